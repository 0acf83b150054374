// SPDX-License-Identifier: Apache-2.0
// Estimates of clock offsets when the delays of the two ways differ.
#include <nacre/rng.hpp>

#include "trace/clock_offset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace nacre::trace {
namespace {

constexpr std::int64_t hour = 3'600'000'000'000;

/// A delay in nanoseconds, of which one in eight is a hundred times as long.
std::int64_t delay(rng& random, std::int64_t least, std::uint64_t more) {
  const auto extra = static_cast<std::int64_t>(random.below(more + 1));
  return random.below(8) == 0 ? 100 * (least + extra) : least + extra;
}

TEST(clock_offset, is_exact_when_both_ways_take_as_long) {
  clock_offset range;
  range.note(1000, 5 * hour + 1500, 2000);
  EXPECT_EQ(range.ahead(), 5 * hour);
  EXPECT_EQ(range.error(), 500);
}

TEST(clock_offset, is_within_its_error_however_unequal_the_ways_are) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    rng random(seed);
    const std::int64_t truth = static_cast<std::int64_t>(random.below(8)) * hour - 4 * hour;
    const std::int64_t present_count = 100 + static_cast<std::int64_t>(random.below(20'000));
    const std::int64_t back = 100 + static_cast<std::int64_t>(random.below(20'000));
    clock_offset range;
    std::int64_t now = static_cast<std::int64_t>(random.below(1000)) * hour / 7,
                 quickest = std::numeric_limits<std::int64_t>::max();
    for (int question = 0; question < 16; ++question) {
      const std::int64_t asked = now, read = asked + delay(random, present_count, 3000),
                         answered = read + delay(random, back, 500);
      range.note(asked, read + truth, answered);
      quickest = std::min(quickest, answered - asked);
      now = answered + 10;
    }
    ASSERT_LE(std::abs(range.ahead() - truth), range.error()) << "seed " << seed;
    ASSERT_LE(range.error(), (quickest + 1) / 2) << "seed " << seed << ": no worse than the quickest exchange alone";
    ASSERT_GE(range.error(), std::min(present_count, back)) << "seed " << seed << ": nobody can know more";
  }
}

TEST(clock_offset, learns_from_exchanges_that_are_quick_one_way_each) {
  clock_offset range;
  range.note(0, 10'000'100, 1'000'000);          // a quick way there: at most 10'000'100 ahead
  range.note(2'000'000, 12'999'900, 3'000'000);  // a quick way back: at least 9'999'900 ahead
  EXPECT_EQ(range.ahead(), 10'000'000);
  EXPECT_EQ(range.error(), 100);
}

}  // namespace
}  // namespace nacre::trace
