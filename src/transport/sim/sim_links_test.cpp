// SPDX-License-Identifier: Apache-2.0
// Simulated ranks on links that are busy: times by hand, order, and full ports.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

/// A byte takes 1 ns, a hop 100 ns, the first one 1000 ns.
[[nodiscard]] sim_options busy_links(std::vector<std::uint32_t> shape, bool contention) {
  sim_options options = plain();
  options.network.remote.send_overhead = nanoseconds(0);
  options.network.remote.receive_overhead = nanoseconds(0);
  options.network.remote.gap = nanoseconds(0);
  options.network.wiring = {.kind = machine::topology_kind::mesh, .shape = std::move(shape)};
  options.network.hop_latency = nanoseconds(100);
  options.network.contention = contention;
  return options;
}

constexpr std::size_t link_body = 961;  // with its header a message occupies a port or a link for 1000 ns

[[nodiscard]] std::int64_t arrival(const job& all, std::uint32_t rank) {
  return all.received[rank].empty() ? -1 : all.received[rank].back().when_ns;
}

TEST(sim_links, a_message_waits_for_a_link_that_carries_another_one) {
  for (const bool contention : {false, true}) {
    job all(4, busy_links({4, 1, 1}, contention));
    all.send(0, 2, numbered(1, channel::application, link_body));
    all.send(1, 3, numbered(2, channel::application, link_body));
    all.run();
    EXPECT_EQ(arrival(all, 3), 1100 + 1000) << "it has its links at once";
    // The other one asks for the link from 1 to 2 at 1000, which is busy from 900 to 1900.
    EXPECT_EQ(arrival(all, 2), contention ? 1900 + 100 + 1000 : 1100 + 1000);
    EXPECT_EQ(all.fabric.traffic().link_waits, contention ? 1U : 0U);
    EXPECT_EQ(all.fabric.traffic().link_wait, nanoseconds(contention ? 900 : 0));
  }
}

TEST(sim_links, a_message_that_nobody_delays_takes_as_long_as_without_contention) {
  for (const bool contention : {false, true}) {
    job all(24, busy_links({2, 3, 4}, contention));
    all.send(0, 23, numbered(1, channel::application, link_body));
    all.run();
    EXPECT_EQ(arrival(all, 23), 1000 + 5 * 100 + 1000);
  }
}

TEST(sim_links, streams_keep_their_order_on_busy_links) {
  sim_options options = busy_links({3, 3, 1}, true);
  options.network.remote.jitter = 2;
  options.network.remote.bytes_per_second = 1e12;  // many messages in a nanosecond
  constexpr std::uint32_t each = 40;
  job all(9, options);
  for (std::uint32_t number = 0; number < each; ++number) {
    for (std::uint32_t source = 0; source < 8; ++source) all.send(source, 8, numbered(source * 1000 + number));
  }
  all.run();
  ASSERT_EQ(all.received[8].size(), 8 * each);
  std::vector<std::uint32_t> next(8, 0);
  for (const job::receipt& got : all.received[8]) EXPECT_EQ(got.number % 1000, next[got.number / 1000]++);
}

TEST(sim_links, messages_go_around_missing_nodes) {
  sim_options options = busy_links({3, 3, 1}, false);
  options.network.missing = {{1, 0, 0}};
  job all(8, options);
  all.send(0, 1, numbered(1));  // to (2, 0, 0), over the next row
  all.run();
  EXPECT_EQ(arrival(all, 1), 1000 + 3 * 100 + 39);
}

TEST(sim_links, a_sender_waits_for_room_at_its_port) {
  sim_options options = busy_links({2, 1, 1}, false);
  options.network.port_buffer = 1500;
  job all(2, options);
  for (std::uint32_t k = 0; k < 4; ++k) all.send(0, 1, numbered(k, channel::application, link_body));
  // The port is free at 1000, 2000, 3000 and 4000; the third message waits until 1500 ns of it are left, and so on.
  EXPECT_EQ(all.fabric.machine().now(), nanoseconds(2000 - 1500 + 1000));
  all.run();
  EXPECT_EQ(arrival(all, 1), 1000 + 4 * 1000);
}

TEST(sim_links, a_sender_waits_for_room_at_its_port_also_when_it_is_far_ahead_of_others) {
  sim_options options = busy_links({2, 1, 1}, false);
  options.network.port_buffer = 1500;
  job all(2, options);
  constexpr std::uint32_t count = 40;
  for (std::uint32_t k = 0; k < count; ++k) all.send(0, 1, numbered(k, channel::application, link_body));
  EXPECT_EQ(all.fabric.machine().now(), nanoseconds((count - 1) * 1000 - 1500));
  all.run();
  EXPECT_EQ(arrival(all, 1), 1000 + count * 1000);
}

TEST(sim_links, a_sender_that_is_far_ahead_makes_no_other_one_of_its_host_wait) {
  sim_options options = busy_links({2, 1, 1}, false);
  options.network.port_buffer = 1500;
  options.network.ranks_per_host = 2;
  job all(4, options);
  struct subject {
    job& all;
    nanoseconds sent{};
  } other{all};
  machine::simulation& clock = all.fabric.machine();
  clock.at(
      nanoseconds(0),
      [](void* self, std::uint64_t) {
        job& own = static_cast<subject*>(self)->all;
        own.fabric.machine().spend(std::chrono::milliseconds(1));
        for (std::uint32_t k = 0; k < 4; ++k) own.send(0, 2, numbered(k, channel::application, link_body));
      },
      &other, 0);
  clock.at(
      nanoseconds(1000),
      [](void* self, std::uint64_t) {
        subject& own = *static_cast<subject*>(self);
        for (std::uint32_t k = 0; k < 2; ++k) own.all.send(1, 3, numbered(k, channel::application, link_body));
        own.sent = own.all.fabric.machine().now();
      },
      &other, 0);
  all.run();
  EXPECT_EQ(other.sent, nanoseconds(1000));
  EXPECT_EQ(arrival(all, 3), 1000 + 1000 + 2 * 1000);
  EXPECT_EQ(arrival(all, 2), 1'000'000 + 1000 + 4 * 1000);
}

/// The time at which copies of ranks 0 and 1 to two ranks further on have ended.
[[nodiscard]] std::int64_t end_of_copies(std::uint32_t count, bool contention) {
  job all(4, busy_links({4, 1, 1}, contention));
  std::vector<std::byte> bytes(937);  // a transfer has 64 more, and occupies a link for 1000 ns
  std::vector<std::vector<std::byte>> regions(count, bytes);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto region =
        all.ends[rank + 2]->direct()->register_region(rank_id(rank), regions[rank], copy_way::to_region);
    EXPECT_TRUE(region);
    EXPECT_EQ(all.ends[rank]->direct()->copy({.peer = rank_id(rank + 2),
                                              .region = *region,
                                              .way = copy_way::to_region,
                                              .local_memory = bytes,
                                              .tag = 1}),
              copy_outcome::pending);
  }
  all.run();
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto ended = all.ends[rank]->direct()->take_ended();
    EXPECT_TRUE(ended && ended->well);
  }
  return all.fabric.machine().now().count();
}

TEST(sim_links, direct_copies_wait_for_links_as_messages_do) {
  constexpr std::int64_t there = 1100 + 1000, back = 1100 + 63;
  EXPECT_EQ(end_of_copies(1, false), there + back);
  EXPECT_EQ(end_of_copies(1, true), there + back);
  EXPECT_EQ(end_of_copies(2, false), there + back);
  EXPECT_EQ(end_of_copies(2, true), there + 900 + back) << "the link from 1 to 2 is busy";
}

/// A rank reads a region of another one.
void begin_read(job& all, std::uint32_t source, std::uint32_t owner, std::span<std::byte> target,
                std::span<std::byte> region, std::uint64_t tag) {
  const auto registered = all.ends[owner]->direct()->register_region(rank_id(source), region, copy_way::from_region);
  EXPECT_TRUE(registered);
  EXPECT_EQ(all.ends[source]->direct()->copy(
                {.peer = rank_id(owner), .region = *registered, .local_memory = target, .tag = tag}),
            copy_outcome::pending);
}

TEST(sim_copies, of_a_rank_that_stops_some_or_closes_leave_those_of_others_alone) {
  constexpr std::uint32_t copies = 5;
  job all(3, plain());
  std::vector<std::byte> source(64, std::byte{7});
  for (int round = 0; round < 2; ++round) {  // the second one in slots that the first one has left
    std::vector<std::vector<std::byte>> targets(2 * copies, std::vector<std::byte>(64));
    for (std::uint32_t n = 0; n < 2 * copies; ++n) begin_read(all, n % 2, 2, targets[n], source, n + 1);
    all.ends[0]->direct()->stop(5);  // of copies 1, 3, 5, 7 and 9
    if (round == 1) all.ends[0]->close(nanoseconds(0));
    all.run();
    for (std::uint32_t n = 0; n < 2 * copies; ++n) {
      const bool arrives = n % 2 == 1 || (round == 0 && n != 4);
      EXPECT_EQ(targets[n][0], arrives ? std::byte{7} : std::byte{0}) << "copy " << n + 1 << ", round " << round;
    }
    for (const std::uint32_t rank : {0U, 1U}) {
      std::uint32_t ended = 0;
      while (all.ends[rank]->direct()->take_ended()) ++ended;
      EXPECT_EQ(ended, round == 1 && rank == 0 ? 0 : copies);
    }
  }
  EXPECT_EQ(all.fabric.effects_under_way(), 0U);
}

}  // namespace
}  // namespace nacre::transport::sim_tests
