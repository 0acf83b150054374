// SPDX-License-Identifier: Apache-2.0
// The promises of access_gate, each as a sentence.
#include "mobile/entry/access_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nacre {
namespace {

TEST(access_gate, exclusive_access_is_given_at_once_when_nobody_reads) {
  access_gate gate;
  EXPECT_TRUE(gate.idle());
  EXPECT_TRUE(gate.try_exclusive());
  EXPECT_TRUE(gate.idle());
}

TEST(access_gate, the_last_of_the_readers_that_an_exclusive_handler_waits_for_is_told_so) {
  access_gate gate;
  gate.enter_shared();
  gate.enter_shared();
  EXPECT_FALSE(gate.try_exclusive());
  EXPECT_FALSE(gate.leave_shared());
  EXPECT_FALSE(gate.idle());
  EXPECT_TRUE(gate.leave_shared());
  EXPECT_TRUE(gate.try_exclusive());
}

TEST(access_gate, readers_for_whom_nobody_waits_leave_in_silence) {
  access_gate gate;
  gate.enter_shared();
  EXPECT_FALSE(gate.leave_shared());
  EXPECT_TRUE(gate.idle());
}

TEST(access_gate, of_the_waiting_activation_and_the_last_reader_exactly_one_goes_on) {
  for (int round = 0; round < 500; ++round) {
    access_gate gate;
    std::atomic<int> go_on{0};
    std::vector<std::thread> readers;
    gate.enter_shared();
    gate.enter_shared();
    for (int index = 0; index < 2; ++index) {
      readers.emplace_back([&] {
        if (gate.leave_shared()) ++go_on;
      });
    }
    if (gate.try_exclusive()) ++go_on;
    for (std::thread& each : readers) each.join();
    ASSERT_EQ(go_on, 1);
    ASSERT_TRUE(gate.idle());
  }
}

}  // namespace
}  // namespace nacre
