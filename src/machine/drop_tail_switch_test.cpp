// SPDX-License-Identifier: Apache-2.0
// The ports of a switch against times and drops worked out by hand.
#include "machine/drop_tail_switch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

/// A byte takes 1 ns.
[[nodiscard]] switch_options plain(std::uint64_t buffer, buffer_unit unit = buffer_unit::bytes) {
  return {.ports = 3, .bytes_per_second = 1e9, .buffer = buffer, .unit = unit};
}

[[nodiscard]] std::int64_t leaves(drop_tail_switch& through, std::uint32_t port, std::uint64_t bytes,
                                  std::int64_t index) {
  const auto left = through.arrive(port, bytes, nanoseconds(index));
  return left ? left->count() : -1;
}

TEST(drop_tail_switch, a_packet_leaves_when_all_its_bytes_and_those_before_it_have_passed) {
  drop_tail_switch through(plain(1000));
  EXPECT_EQ(leaves(through, 0, 100, 0), 100);
  EXPECT_EQ(leaves(through, 0, 50, 20), 150);
  EXPECT_EQ(leaves(through, 1, 50, 20), 70);    // another port
  EXPECT_EQ(leaves(through, 0, 10, 400), 410);  // the port has been idle
}

TEST(drop_tail_switch, a_packet_that_does_not_fit_is_dropped_and_a_shorter_one_behind_it_is_not) {
  drop_tail_switch through(plain(250));
  EXPECT_EQ(leaves(through, 0, 100, 0), 100);
  EXPECT_EQ(leaves(through, 0, 100, 0), 200);
  EXPECT_EQ(leaves(through, 0, 51, 0), -1);
  EXPECT_EQ(leaves(through, 0, 50, 0), 250);
  EXPECT_EQ(leaves(through, 1, 250, 0), 250);  // another port has a buffer of its own
  EXPECT_EQ(through.dropped(0), 1U);
  EXPECT_EQ(through.dropped(1), 0U);
}

TEST(drop_tail_switch, a_packet_occupies_its_buffer_until_its_last_byte_has_left) {
  drop_tail_switch through(plain(100));
  EXPECT_EQ(leaves(through, 0, 100, 0), 100);
  EXPECT_EQ(through.occupied(0, nanoseconds(99)), 100U);
  EXPECT_EQ(leaves(through, 0, 1, 99), -1);
  EXPECT_EQ(leaves(through, 0, 100, 100), 200);
}

TEST(drop_tail_switch, cells_are_taken_whole_and_packets_count_as_one) {
  drop_tail_switch cells(plain(3, buffer_unit::cells));
  EXPECT_EQ(leaves(cells, 0, 33, 0), 33);  // two cells
  EXPECT_EQ(leaves(cells, 0, 33, 0), -1);
  EXPECT_EQ(leaves(cells, 0, 32, 0), 65);
  drop_tail_switch packets(plain(2, buffer_unit::packets));
  EXPECT_EQ(leaves(packets, 0, 9000, 0), 9000);
  EXPECT_EQ(leaves(packets, 0, 9000, 0), 18000);
  EXPECT_EQ(leaves(packets, 0, 1, 0), -1);
}

TEST(drop_tail_switch, ports_that_share_a_buffer_take_it_from_each_other) {
  switch_options options = plain(200);
  options.sharing = buffer_sharing::shared;
  drop_tail_switch through(options);
  EXPECT_EQ(leaves(through, 0, 150, 0), 150);
  EXPECT_EQ(leaves(through, 1, 51, 0), -1);
  EXPECT_EQ(leaves(through, 1, 50, 0), 50);
  EXPECT_EQ(leaves(through, 2, 50, 50), 100);  // that of port 1 has left
  EXPECT_EQ(through.dropped(1), 1U);
}

TEST(drop_tail_switch, rounding_does_not_add_up) {
  switch_options options = plain(1'000'000'000);
  options.bytes_per_second = 3e9;  // a byte takes a third of a nanosecond
  drop_tail_switch through(options);
  std::int64_t last = 0;
  for (int i = 0; i < 300'000; ++i) last = leaves(through, 0, 1, 0);
  EXPECT_NEAR(static_cast<double>(last), 100'000, 100.0);  // the port counts 333 ps
}

/// Two senders at the rate of the port: the queue grows by a packet for each that leaves. Of 2 * n packets of equal
/// length at equal times, n leave meanwhile, so `buffer` packets and n fit, but for the one that is being sent.
TEST(drop_tail_switch, two_senders_at_line_rate_lose_what_the_buffer_does_not_hold) {
  constexpr std::uint64_t packets_each = 40, buffer = 16;
  drop_tail_switch through(plain(buffer, buffer_unit::packets));
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < packets_each; ++i) {
    for (int sender = 0; sender < 2; ++sender) {
      passed += through.arrive(0, 100, nanoseconds(i * 100)).has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(passed, buffer + packets_each - 1);
  EXPECT_EQ(through.dropped(0), packets_each - buffer + 1);
}

}  // namespace
}  // namespace nacre::machine
