// SPDX-License-Identifier: Apache-2.0
// Lives of ranks end once, and their numbers are not mixed up.
#include "base/rank_life.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace nacre {
namespace {

TEST(RankLife, is_over_from_its_end_on_and_its_number_is_not_given_again) {
  std::optional<rank_life> first(std::in_place);
  const std::uint32_t number = first->number();
  EXPECT_NE(number, 0U);
  EXPECT_FALSE(rank_life::is_over(number));
  first->end();
  first->end();
  EXPECT_TRUE(rank_life::is_over(number));
  first.emplace();
  EXPECT_NE(first->number(), number);
  EXPECT_FALSE(rank_life::is_over(first->number()));
  EXPECT_TRUE(rank_life::is_over(number));
}

TEST(RankLife, several_go_on_at_a_time) {
  const rank_life one;
  std::optional<rank_life> other(std::in_place);
  const std::uint32_t number = other->number();
  other.reset();
  EXPECT_TRUE(rank_life::is_over(number));
  EXPECT_FALSE(rank_life::is_over(one.number()));
}

}  // namespace
}  // namespace nacre
