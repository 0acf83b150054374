// SPDX-License-Identifier: Apache-2.0
// Peers that are silent because they do not poll, and because no datagram passes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "transport/udp/pair_test_kit.hpp"

namespace nacre::transport::udp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(udp, a_peer_that_does_not_poll_for_long_is_not_taken_for_dead_and_gets_everything) {
  pair_over_datagrams job({.silence_max = milliseconds(50)});
  for (int i = 0; i < 100; ++i) job.send(0, 50'000);
  message_list nothing;
  for (const auto start = steady_clock::now(); steady_clock::now() - start < milliseconds(1500);) {
    job.at(0).poll(nothing, 64);
    job.at(0).wait(milliseconds(10));
    ASSERT_FALSE(job.at(0).failed());
  }
  EXPECT_EQ(job.take(1, 100), 100U);
}

TEST(udp, a_path_that_loses_everything_from_now_on_is_a_failure_when_the_peer_polls) {
  const auto losing_now = std::make_shared<std::atomic<bool>>(false);
  pair_over_datagrams job({.silence_max = milliseconds(400), .lose = [losing_now] { return losing_now->load(); }});
  job.send(0, 8);
  EXPECT_EQ(job.take(1, 1), 1U);
  *losing_now = true;
  job.send(0, 8);
  std::optional<launch::failure> failure;
  message_list nothing;
  for (const auto start = steady_clock::now(); !failure && steady_clock::now() - start < longest_wait;) {
    for (const std::size_t rank : {0, 1}) {
      job.at(rank).poll(nothing, 64);
      job.at(rank).wait(milliseconds(1));
    }
    failure = job.at(0).failed();
  }
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->peer, rank_id(1));
  EXPECT_NE(failure->reason.find("no datagrams any more"), std::string::npos) << failure->reason;
  EXPECT_TRUE(nothing.empty());
}

}  // namespace
}  // namespace nacre::transport::udp
