// SPDX-License-Identifier: Apache-2.0
// The numbers of received datagrams, and their ranges as they travel, against a plain set.
#include <nacre/rng.hpp>

#include "transport/udp/received_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace nacre::transport::udp {
namespace {

TEST(received_numbers, accepts_no_number_twice_and_acknowledges_only_what_it_has_accepted) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    rng random(seed);
    received_numbers numbers;
    std::set<std::uint64_t> accepted;
    std::uint64_t newest = random.below(3) == 0 ? 0 : random.next() >> 1;
    const std::uint64_t spread = 1 + random.below(200);
    for (int i = 0; i < 400; ++i) {
      newest += random.below(3);
      const std::uint64_t number = newest - std::min(newest, random.below(spread));
      const bool is_new = numbers.is_new(number);
      ASSERT_EQ(numbers.accept(number), is_new);
      if (is_new) {
        ASSERT_TRUE(accepted.insert(number).second) << "seed " << seed;
      }
      std::uint64_t above = ~std::uint64_t{0};
      for (const number_range& each : numbers.ranges().view()) {
        ASSERT_LT(each.begin, each.end);
        ASSERT_LT(each.end, above) << "ranges lie apart, newest first";
        above = each.begin;
        for (std::uint64_t n = each.begin; n < each.end; ++n) ASSERT_TRUE(accepted.contains(n)) << "seed " << seed;
      }
      ASSERT_EQ(numbers.end(), *accepted.rbegin() + 1);
    }
  }
}

TEST(received_numbers, of_a_sender_whose_datagrams_keep_their_order_are_one_range) {
  received_numbers numbers;
  for (std::uint64_t n = 5; n < 100'000; ++n) ASSERT_TRUE(numbers.accept(n));
  ASSERT_EQ(numbers.ranges().count, 1U);
  EXPECT_EQ(numbers.ranges().each[0], (number_range{5, 100'000}));
}

TEST(datagrams, carry_their_fields_and_ranges_and_are_refused_when_a_range_makes_no_sense) {
  rng random(1);
  for (int round = 0; round < 2000; ++round) {
    datagram sent{.number = random.next() >> 1,
                  .kind = datagram_kind::acknowledgement,
                  .stream_channel = static_cast<channel>(random.below(3)),
                  .ack_delay_us = static_cast<std::uint32_t>(random.below(1000)),
                  .offset = random.next() >> 1};
    ack_ranges ranges, read;
    std::uint64_t above = 1'000'000'000;
    for (std::uint64_t count = random.below(ack_ranges_max + 1); count > 0; --count) {
      const std::uint64_t end = above - random.below(1000) - 1;
      const std::uint64_t begin = end - random.below(1000) - 1;
      ranges.each[ranges.count++] = {begin, end};
      above = begin;
    }
    sent.acknowledged = ranges.view();
    std::vector<std::byte> bytes(overhead_of(ack_ranges_max));
    bytes.resize(write_head(sent, bytes));
    const auto got = read_datagram(bytes, read);
    ASSERT_TRUE(got);
    EXPECT_EQ(number_of(bytes), sent.number);
    EXPECT_EQ(got->number, sent.number);
    EXPECT_EQ(got->stream_channel, sent.stream_channel);
    EXPECT_EQ(got->ack_delay_us, sent.ack_delay_us);
    EXPECT_EQ(got->offset, sent.offset);
    ASSERT_EQ(got->acknowledged.size(), ranges.count);
    for (std::size_t i = 0; i < ranges.count; ++i) EXPECT_EQ(got->acknowledged[i], ranges.each[i]);
    if (ranges.count == 0) continue;
    std::fill(bytes.end() - 4, bytes.end(), std::byte{0});
    EXPECT_FALSE(read_datagram(bytes, read)) << "a range of no numbers";
    std::fill(bytes.end() - 4, bytes.end(), std::byte{0xff});
    EXPECT_FALSE(read_datagram(bytes, read)) << "a range that reaches below 0";
  }
}

TEST(datagrams, of_any_bytes_are_read_or_refused_without_harm) {
  rng random(2);
  for (int round = 0; round < 100'000; ++round) {
    std::vector<std::byte> bytes(random.below(200));
    for (std::byte& each : bytes) each = static_cast<std::byte>(random.below(4) == 0 ? random.next() : 0);
    ack_ranges read;
    const auto got = read_datagram(bytes, read);
    if (!got) continue;
    EXPECT_EQ(overhead_of(got->acknowledged.size()) + got->bytes.size(), bytes.size());
  }
}

}  // namespace
}  // namespace nacre::transport::udp
