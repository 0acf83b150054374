// SPDX-License-Identifier: Apache-2.0
// Trees of messages between ranks, and how many of these wait at one time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include <nacre/nacre.hpp>

namespace {

// All ranks of a simulation live in one thread.
std::uint64_t waiting = 0, most_waiting = 0, ran = 0;

void branch(nacre::context& ctx, std::uint32_t depth) {
  --waiting;
  ++ran;
  ctx.charge(1e-7);
  if (depth == 0) return;
  const nacre::rank_id other(1 - ctx.rank().value());
  for (int child = 0; child < 2; ++child) {
    most_waiting = std::max(most_waiting, ++waiting);
    ctx.send<branch>(other, depth - 1);
  }
}

std::uint64_t most_waiting_under(const std::string& scheduler) {
  waiting = most_waiting = ran = 0;
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  configuration.set("scheduler", scheduler);
  configuration.set("balancer", "none");
  const int code = nacre::run(configuration, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    ++waiting;
    rt.send<branch>(nacre::rank_id(1), 13u);
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(ran, (1U << 14) - 1);
  return most_waiting;
}

TEST(rank_trees, need_room_for_their_width_but_where_the_newest_work_runs_first) {
  const std::uint64_t oldest_first = most_waiting_under("fifo"), newest_first = most_waiting_under("lifo");
  EXPECT_GT(oldest_first, 1U << 12);
  EXPECT_LT(newest_first, oldest_first / 4);
}

}  // namespace
