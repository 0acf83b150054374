// SPDX-License-Identifier: Apache-2.0
// Input buffers of simulated ranks: a message that finds one full waits in the network, and its sender keeps the next
// ones.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

/// A message of 40 bytes is there after 1000 + 39 ns, and the next one of its sender 70 ns later. Two fit the buffer.
[[nodiscard]] sim_options with_input_buffer() {
  sim_options options = plain();
  options.network.remote.send_overhead = nanoseconds(0);
  options.network.remote.receive_overhead = nanoseconds(0);
  options.network.input_buffer = 80;
  return options;
}

/// Ranks that take messages only when a test says so.
struct slow_job {
  sim_fabric fabric;
  std::vector<std::unique_ptr<sim_endpoint>> ends;
  std::vector<std::vector<std::uint32_t>> received;
  std::vector<std::uint32_t> woken;

  struct waker {
    slow_job* all;
    std::uint32_t rank;
  };
  std::vector<waker> wakers;

  slow_job(std::uint32_t ranks, const sim_options& options) : fabric(ranks, options), received(ranks), woken(ranks) {
    wakers.reserve(ranks);
    for (const rank_id rank : fabric.local_ranks()) {
      ends.emplace_back(static_cast<sim_endpoint*>(fabric.open(rank).release()));
      wakers.push_back({this, rank.value()});
      ends.back()->set_arrival_hook(
          [](void* self) {
            const waker& one = *static_cast<waker*>(self);
            one.all->woken[one.rank] += 1;
          },
          &wakers.back());
    }
  }
  /// Returns whether the endpoint has taken it.
  [[nodiscard]] bool send(std::uint32_t source, std::uint32_t target, std::uint32_t number) {
    message_list batch;
    batch.push_back(numbered(number));
    ends[source]->submit(rank_id{target}, batch);
    return batch.empty();
  }
  void take(std::uint32_t rank, std::size_t messages_max) {
    message_list arrived;
    ends[rank]->poll(arrived, messages_max);
    while (const message_ptr m = arrived.pop_front()) received[rank].push_back(m->header.sequence);
  }
  void run() {
    while (fabric.advance()) continue;
  }
};

TEST(sim_input, a_full_buffer_keeps_messages_in_the_network_and_the_next_ones_at_their_sender) {
  slow_job all(3, with_input_buffer());
  for (std::uint32_t number = 0; number < 5; ++number) EXPECT_TRUE(all.send(0, 2, number)) << "nobody knows yet";
  all.run();
  EXPECT_EQ(all.ends[2]->waiting(), 2U);
  EXPECT_EQ(all.fabric.traffic().held_back, 3U);
  EXPECT_FALSE(all.send(0, 2, 5));
  EXPECT_TRUE(all.send(0, 1, 6)) << "to another rank";
  EXPECT_TRUE(all.send(1, 2, 7)) << "of another rank: it waits in the network";
  all.run();
  EXPECT_EQ(all.fabric.traffic().held_back, 4U);
  EXPECT_EQ(all.woken[0], 0U);
  all.take(2, 3);
  all.run();
  EXPECT_EQ(all.ends[2]->waiting(), 2U) << "as many as were taken have come in";
  EXPECT_EQ(all.woken[0], 0U) << "one of its messages is still held back";
  all.take(2, 1);
  all.run();
  EXPECT_EQ(all.woken[0], 1U);
  EXPECT_TRUE(all.send(0, 2, 5));
  all.run();
  while (all.ends[2]->waiting() != 0) {
    all.take(2, 1);
    all.run();
  }
  EXPECT_EQ(all.received[2], (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 7, 5})) << "in the order of their arrival";
  EXPECT_EQ(all.fabric.traffic().in_flight, 0U);
  EXPECT_EQ(all.fabric.effects_under_way(), 1U) << "rank 1 has not looked";
}

TEST(sim_input, a_message_comes_in_when_room_is_made_and_not_before) {
  sim_options options = with_input_buffer();
  options.network.input_buffer = 40;
  slow_job all(2, options);
  for (std::uint32_t number = 0; number < 3; ++number) ASSERT_TRUE(all.send(0, 1, number));
  all.run();
  EXPECT_EQ(all.ends[1]->waiting(), 1U);
  const nanoseconds last = all.fabric.machine().now();
  EXPECT_EQ(last, nanoseconds(1000 + 39 + 2 * (39 + 30))) << "the last one has reached the node";
  // Somebody takes the first one after 5000 ns: the second one enters then.
  static slow_job* job = &all;
  job = &all;
  all.fabric.machine().at(
      nanoseconds(5000), [](void*, std::uint64_t) { job->take(1, 1); }, nullptr, 0);
  const std::uint32_t woken = all.woken[1];
  all.run();
  EXPECT_EQ(all.fabric.machine().now(), nanoseconds(5000));
  EXPECT_EQ(all.woken[1], woken + 1);
  EXPECT_EQ(all.ends[1]->waiting(), 1U);
  EXPECT_EQ(all.received[1], (std::vector<std::uint32_t>{0}));
}

TEST(sim_input, refused_messages_count_as_under_way) {
  sim_options options = with_input_buffer();
  options.network.input_buffer = 40;
  slow_job all(2, options);
  for (std::uint32_t number = 0; number < 2; ++number) ASSERT_TRUE(all.send(0, 1, number));
  all.run();
  EXPECT_EQ(all.fabric.effects_under_way(), 2U);
  EXPECT_FALSE(all.send(0, 1, 2));
  EXPECT_FALSE(all.send(0, 1, 2));
  EXPECT_EQ(all.fabric.effects_under_way(), 3U) << "a sender waits";
  all.take(1, 1);
  all.run();
  all.take(1, 1);
  EXPECT_EQ(all.fabric.effects_under_way(), 1U) << "until it has sent";
  EXPECT_TRUE(all.send(0, 1, 2));
  EXPECT_EQ(all.fabric.effects_under_way(), 1U);
  all.run();
  all.take(1, 1);
  EXPECT_EQ(all.fabric.effects_under_way(), 0U);
}

TEST(sim_input, what_is_held_back_for_a_rank_that_closes_is_dropped) {
  sim_options options = with_input_buffer();
  options.network.input_buffer = 40;
  slow_job all(2, options);
  for (std::uint32_t number = 0; number < 3; ++number) ASSERT_TRUE(all.send(0, 1, number));
  all.run();
  EXPECT_FALSE(all.send(0, 1, 3));
  all.ends[1]->close(nanoseconds(0));
  all.run();
  EXPECT_EQ(all.fabric.traffic().in_flight, 0U);
  EXPECT_EQ(all.fabric.traffic().dropped, 3U);
  EXPECT_EQ(all.woken[0], 1U);
  EXPECT_TRUE(all.send(0, 1, 3)) << "the network drops it";
}

TEST(sim_input, messages_of_the_same_host_pass_it_by) {
  sim_options options = with_input_buffer();
  options.network.ranks_per_host = 2;
  slow_job all(2, options);
  for (std::uint32_t number = 0; number < 9; ++number) EXPECT_TRUE(all.send(0, 1, number));
  all.run();
  EXPECT_EQ(all.ends[1]->waiting(), 9U);
  EXPECT_EQ(all.fabric.traffic().held_back, 0U);
}

}  // namespace
}  // namespace nacre::transport::sim_tests
