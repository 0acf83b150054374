// SPDX-License-Identifier: Apache-2.0
// The promises of stream_order, each as a sentence.
#include <nacre/rng.hpp>

#include "machine/stream_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace nacre::machine {
namespace {

TEST(stream_order, the_next_message_of_a_stream_is_behind_the_last_and_other_streams_are_free) {
  stream_order order;
  EXPECT_EQ(order.next(1, 100, 0), 100);
  EXPECT_EQ(order.next(1, 50, 0), 101);
  EXPECT_EQ(order.next(2, 50, 0), 50);
  EXPECT_EQ(order.next(1, 300, 0), 300);
  EXPECT_EQ(order.next(0, 0, 0), 0);
  EXPECT_EQ(order.next(0, 0, 0), 1);
}

TEST(stream_order, agrees_with_a_map_that_forgets_nothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    rng random(seed);
    stream_order order;
    std::unordered_map<std::uint64_t, std::int64_t> last;
    std::int64_t present = 0;
    for (int i = 0; i < 20'000; ++i) {
      present += static_cast<std::int64_t>(random.below(3));
      const std::uint64_t stream = random.below(2000) * 0x10001;
      const auto wanted = present + static_cast<std::int64_t>(random.below(1000));
      const auto known = last.find(stream);
      const std::int64_t expected = known == last.end() ? wanted : std::max(wanted, known->second + 1);
      ASSERT_EQ(order.next(stream, wanted, present), expected) << "seed " << seed << " call " << i;
      last[stream] = expected;
    }
  }
}

TEST(stream_order, making_room_keeps_whoever_arrives_now_or_later) {
  stream_order order;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) {
    EXPECT_EQ(order.next(stream, 500, 500), 500);
    EXPECT_EQ(order.next(0, 500, 500), 501 + static_cast<std::int64_t>(stream));
  }
  for (std::uint64_t stream = 1; stream < 1000; ++stream) EXPECT_EQ(order.next(stream, 500, 500), 501);
}

TEST(stream_order, remembers_the_streams_in_flight_and_not_all_that_ever_were) {
  stream_order order;
  for (std::int64_t i = 0; i < 1'000'000; ++i) (void)order.next(static_cast<std::uint64_t>(i), i + 100, i);
  EXPECT_LE(order.size(), 1000U);
}

}  // namespace
}  // namespace nacre::machine
