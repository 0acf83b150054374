// SPDX-License-Identifier: Apache-2.0
// Child tables equal the formula, draw by draw.
#include "child_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "reference.hpp"

namespace uts {
namespace {

tree_params with_mean(double mean) {
  return {.type = tree_type::geometric, .shape = tree_shape::fixed, .branching = mean, .depth = 2};
}

/// Every mean that occurs in a small or a published tree, and extremes.
std::vector<double> means() {
  std::vector<double> all{1e-12, 1e-9, 0.01, 0.5, 1, 1.5, 2, 3, 4, 7, 30, 100, 1000, 1e6};
  for (std::uint32_t depth = 0; depth < 20; ++depth) {
    all.push_back(mean_children({.shape = tree_shape::linear, .branching = 4, .depth = 20}, depth));
    all.push_back(mean_children({.shape = tree_shape::cyclic, .branching = 7, .depth = 23}, depth));
    all.push_back(mean_children({.shape = tree_shape::expdec, .branching = 6, .depth = 16}, depth));
  }
  return all;
}

TEST(child_table, thresholds_for_branching_4_are_the_published_ones) {
  const child_table table = child_table::geometric(4);
  EXPECT_EQ(table.thresholds()[0], 429496730u);
  EXPECT_EQ(table.thresholds()[1], 773094114u);
  EXPECT_EQ(table.thresholds()[2], 1047972021u);
  EXPECT_EQ(table.thresholds()[3], 1267874346u);
}

TEST(child_table, a_geometric_table_equals_the_formula_around_every_threshold_and_at_random_draws) {
  std::mt19937 random(3);
  for (const double mean : means()) {
    const child_table table = child_table::geometric(mean);
    std::vector<std::uint32_t> draws{0, 1, draw_end - 2, draw_end - 1};
    for (const std::uint32_t threshold : table.thresholds()) {
      for (std::uint32_t draw = threshold - std::min(threshold, 3u); draw < threshold + 3; ++draw)
        draws.push_back(draw);
    }
    for (int k = 0; k < 1000; ++k) draws.push_back(static_cast<std::uint32_t>(random()));
    for (const std::uint32_t draw : draws) {
      if (draw >= draw_end) continue;
      const std::uint32_t expected = reference::children(with_mean(mean), 1, draw);
      ASSERT_EQ(table.children(draw), expected) << "mean " << mean << " draw " << draw;
      ASSERT_EQ(table.maybe_inner(draw), expected > 0) << "mean " << mean << " draw " << draw;
    }
  }
}

TEST(child_table, a_mean_of_zero_gives_no_children) {
  const child_table table = child_table::geometric(0);
  for (const std::uint32_t draw : {0u, 1u, draw_end / 2, draw_end - 1}) {
    EXPECT_EQ(table.children(draw), 0u);
    EXPECT_FALSE(table.maybe_inner(draw));
  }
}

TEST(child_table, a_binomial_table_changes_exactly_where_the_comparison_in_double_arithmetic_does) {
  for (const double q : {0.0, 1e-10, 0.124875, 0.200014, 0.234375, 0.499999995, 0.5, 1 - 1e-10, 1.0}) {
    const child_table table = child_table::binomial(q, 5);
    const tree_params params{.type = tree_type::binomial, .q = q, .m = 5};
    const double edge = q * draw_end;
    for (double draw = std::max(0.0, std::floor(edge) - 2); draw <= edge + 2 && draw < draw_end; ++draw) {
      const auto index = static_cast<std::uint32_t>(draw);
      EXPECT_EQ(table.children(index), reference::children(params, 1, index)) << "q " << q << " draw " << index;
      EXPECT_EQ(table.maybe_inner(index), table.children(index) > 0);
    }
    EXPECT_EQ(table.children(0), q > 0 ? 5u : 0u);
    EXPECT_EQ(table.children(draw_end - 1), q > 1 - 1e-9 ? 5u : 0u);
  }
}

TEST(child_table, a_constant_table_gives_every_node_as_many) {
  for (const std::uint32_t children : {0u, 1u, 7u, 100000u}) {
    const child_table table = child_table::constant(children);
    for (const std::uint32_t draw : {0u, draw_end / 3, draw_end - 1}) {
      EXPECT_EQ(table.children(draw), children);
      EXPECT_EQ(table.maybe_inner(draw), children > 0);
    }
  }
}

}  // namespace
}  // namespace uts
