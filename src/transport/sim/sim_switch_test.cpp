// SPDX-License-Identifier: Apache-2.0
// A switch with short buffers between simulated ranks: it drops, and what it drops is sent again, in order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/sim/sim_test_kit.hpp"

namespace nacre::transport::sim_tests {
namespace {

/// A byte takes 1 ns on each port.
[[nodiscard]] sim_options short_buffer(std::uint64_t bytes) {
  sim_options options = plain();
  options.network.remote.send_overhead = nanoseconds(0);
  options.network.remote.receive_overhead = nanoseconds(0);
  options.network.remote.gap = nanoseconds(0);
  options.network.switch_buffer = bytes;
  options.network.switch_retry = nanoseconds(50'000);
  return options;
}

constexpr std::size_t body = 960;  // with its header a message takes 1000 ns

TEST(sim_switch, a_message_that_finds_a_full_buffer_comes_after_the_time_of_a_retry) {
  job all(4, short_buffer(1500));
  for (std::uint32_t source = 1; source <= 3; ++source)
    all.send(source, 0, numbered(source, channel::application, body));
  all.run();
  // The heads come at once: behind the first message wait 1000 bytes, behind the second 2000.
  ASSERT_EQ(all.received[0].size(), 3U);
  EXPECT_LE(all.received[0][1].when_ns, 1000 + 2 * 1000);
  EXPECT_GE(all.received[0][2].when_ns, 1000 + 50'000);
  EXPECT_EQ(all.fabric.traffic().switch_drops, 1U);
}

TEST(sim_switch, a_single_sender_at_the_rate_of_its_port_loses_nothing) {
  job all(2, short_buffer(1));
  for (std::uint32_t number = 0; number < 100; ++number) all.send(1, 0, numbered(number, channel::application, body));
  all.run();
  EXPECT_EQ(all.fabric.traffic().switch_drops, 0U);
  EXPECT_EQ(all.received[0].size(), 100U);
}

TEST(sim_switch, without_a_bound_nothing_is_dropped) {
  job all(8, short_buffer(0));
  for (std::uint32_t source = 1; source < 8; ++source)
    all.send(source, 0, numbered(source, channel::application, body));
  all.run();
  EXPECT_EQ(all.fabric.traffic().switch_drops, 0U);
  EXPECT_EQ(all.received[0].size(), 7U);
}

TEST(sim_switch, messages_of_one_stream_stay_in_order_whatever_is_dropped) {
  constexpr std::uint32_t senders = 5, each = 30;
  job all(senders + 1, short_buffer(2000));
  for (std::uint32_t number = 0; number < each; ++number) {
    for (std::uint32_t source = 1; source <= senders; ++source) {
      all.send(source, 0, numbered(source * 1000 + number, channel::application, body));
    }
  }
  all.run();
  EXPECT_GT(all.fabric.traffic().switch_drops, 0U);
  std::vector<std::uint32_t> next(senders + 1, 0);
  for (const job::receipt& got : all.received[0]) EXPECT_EQ(got.number % 1000, next[got.number / 1000]++);
  for (std::uint32_t source = 1; source <= senders; ++source) EXPECT_EQ(next[source], each);
}

}  // namespace
}  // namespace nacre::transport::sim_tests
