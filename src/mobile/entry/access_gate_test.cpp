// SPDX-License-Identifier: Apache-2.0
// The promises of access_gate, each as a sentence.
#include "mobile/entry/access_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nacre {
namespace {

using left = access_gate::left;
using reader = access_gate::reader;

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
  EXPECT_EQ(gate.leave_shared(), left::nothing);
  EXPECT_FALSE(gate.idle());
  EXPECT_EQ(gate.leave_shared(), left::activation);
  EXPECT_TRUE(gate.try_exclusive());
}

TEST(access_gate, readers_for_whom_nobody_waits_leave_in_silence) {
  access_gate gate;
  gate.enter_shared();
  EXPECT_EQ(gate.leave_shared(), left::nothing);
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
        if (gate.leave_shared() == left::activation) ++go_on;
      });
    }
    if (gate.try_exclusive()) ++go_on;
    for (std::thread& each : readers) each.join();
    ASSERT_EQ(go_on, 1);
    ASSERT_TRUE(gate.idle());
  }
}

TEST(access_gate, a_wish_lets_others_in_and_the_last_of_them_is_told) {
  access_gate gate;
  gate.enter_shared();
  EXPECT_FALSE(gate.has_coroutine());
  gate.enter_shared(reader::coroutine);
  EXPECT_TRUE(gate.has_coroutine());
  EXPECT_FALSE(gate.try_wish());
  EXPECT_EQ(gate.leave_shared(), left::nothing);
  gate.enter_shared();
  EXPECT_EQ(gate.leave_shared(), left::nothing);
  EXPECT_EQ(gate.leave_shared(), left::wish);
  EXPECT_TRUE(gate.idle());
  EXPECT_TRUE(gate.try_wish());
  gate.enter_shared();
  EXPECT_FALSE(gate.has_coroutine()) << "the coroutine has gone";
  EXPECT_EQ(gate.leave_shared(), left::nothing);
}

TEST(access_gate, an_exclusive_handler_that_waits_goes_before_a_wish) {
  access_gate gate;
  gate.enter_shared(reader::coroutine);
  EXPECT_FALSE(gate.try_wish());
  EXPECT_FALSE(gate.try_exclusive());
  EXPECT_EQ(gate.leave_shared(), left::activation);
  EXPECT_TRUE(gate.try_exclusive());
}

TEST(access_gate, of_the_activation_that_has_a_wish_and_the_last_reader_one_at_least_sees_it) {
  for (int round = 0; round < 500; ++round) {
    access_gate gate;
    std::atomic<int> seen{0};
    std::vector<std::thread> readers;
    gate.enter_shared(reader::coroutine);
    gate.enter_shared();
    for (int index = 0; index < 2; ++index) {
      readers.emplace_back([&] {
        if (gate.leave_shared() == left::wish) ++seen;
      });
    }
    if (gate.try_wish()) {
      ++seen;
    } else {
      gate.enter_shared();
      if (gate.leave_shared() == left::wish) ++seen;
    }
    for (std::thread& each : readers) each.join();
    ASSERT_GE(seen, 1);
    ASSERT_TRUE(gate.idle());
  }
}

}  // namespace
}  // namespace nacre
