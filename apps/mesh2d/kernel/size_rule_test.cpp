// SPDX-License-Identifier: Apache-2.0
// The bounds of areas, by regions and places.
#include "kernel/size_rule.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace mesh2d {
namespace {

TEST(SizeRule, knows_whether_anything_bounds_the_area) {
  const std::vector<region_rule> free(3), bounded{{0, 0}, {1, 0.5}, {2, 0}};
  EXPECT_FALSE(size_rule().bounds_area());
  EXPECT_FALSE(size_rule(20.7, 0, {}, {}).bounds_area());
  EXPECT_FALSE(size_rule(20.7, 0, free, {}).bounds_area());
  EXPECT_FALSE(size_rule(20.7, 0, free, {}).coarser(100, 20.7).bounds_area());
  EXPECT_TRUE(size_rule(20.7, 2, free, {}).bounds_area());
  EXPECT_TRUE(size_rule(20.7, 0, bounded, {}).bounds_area());
  EXPECT_TRUE(size_rule(20.7, 0, bounded, {}).coarser(100, 20.7).bounds_area());
  EXPECT_TRUE(size_rule(20.7, 0, free, {}).also_below(7).bounds_area());
  EXPECT_TRUE(size_rule(20.7, 0, free, {{{0, 0}, 1, 0}}).bounds_area());
  EXPECT_FALSE(size_rule::without_refinement(bounded).bounds_area());
}

TEST(SizeRule, the_least_bound_counts) {
  const size_rule rule(20.7, 2, {{0, 0}, {1, 0.5}}, {{{0, 0}, 1, 1}});
  EXPECT_EQ(rule.area_max(0, {9, 0}), 2);
  EXPECT_EQ(rule.area_max(1, {9, 0}), 0.5);
  EXPECT_DOUBLE_EQ(rule.area_max(1, {0, 0}), std::sqrt(3.0) / 4);
  EXPECT_DOUBLE_EQ(rule.coarser(4, 20.7).area_max(1, {9, 0}), 2);
  EXPECT_DOUBLE_EQ(rule.also_below(0.1).area_max(1, {9, 0}), 0.1);
}

}  // namespace
}  // namespace mesh2d
