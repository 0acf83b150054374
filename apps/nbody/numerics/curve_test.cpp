// SPDX-License-Identifier: Apache-2.0
// Keys, sorting, and the cut into branches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <nacre/rng.hpp>

#include "models/model.hpp"
#include "numerics/curve.hpp"
#include "parallel/cutter.hpp"

namespace nbody {
namespace {

struct sorted_bodies {
  std::vector<body> bodies;
  std::vector<curve_key> keys;
};
sorted_bodies sorted(std::uint32_t count) {
  sorted_bodies result{bodies_of_model({.kind = model_kind::plummer, .bodies = count, .seed = 2}, 0, count), {}};
  result.bodies[7].place = result.bodies[3].place;  // bodies of one key
  std::reverse(result.bodies.begin(), result.bodies.end());
  vector3 low = result.bodies[0].place, high = low;
  for (const body& each : result.bodies) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], each.place[axis]), high[axis] = std::max(high[axis], each.place[axis]);
    }
  }
  result.keys = sort_along_curve(result.bodies, frame_around(low, high));
  return result;
}

TEST(Curve, sorts_bodies_by_key_and_number) {
  const sorted_bodies all = sorted(3000);
  for (std::size_t k = 1; k < all.keys.size(); ++k) {
    ASSERT_LE(all.keys[k - 1], all.keys[k]);
    if (all.keys[k - 1] == all.keys[k]) {
      ASSERT_LT(all.bodies[k - 1].number, all.bodies[k].number);
    }
  }
}

TEST(Curve, cells_hold_the_keys_of_their_children) {
  const curve_cell cell = curve_cell{}.child(5).child(2);
  EXPECT_EQ(cell.child(0).first, cell.first);
  EXPECT_EQ(cell.child(7).end(), cell.end());
  EXPECT_EQ(cell.child(3).end(), cell.child(4).first);
  EXPECT_EQ(curve_cell::octant_of(cell.child(6).first, 2), 6u);
}

TEST(Curve, frame_after_another_has_its_cells) {
  const frame first = frame_around({0, 0, 0}, {1, 0.7, 0.9});
  EXPECT_EQ(frame_after(first, {0.2, 0.1, 0.1}, {0.9, 0.6, 0.8}).origin, first.origin);
  EXPECT_EQ(frame_after(first, {0.2, 0.1, 0.1}, {0.9, 0.6, 0.8}).size, first.size);
  const frame grown = frame_after(first, {-0.1, 0.1, 0.1}, {0.9, 0.6, 1.4});
  EXPECT_EQ(grown.size, 2 * first.size);
  EXPECT_DOUBLE_EQ(grown.origin[0] + first.size, first.origin[0]);
  EXPECT_EQ(grown.origin[2], first.origin[2]);
  const vector3 low{0.3, 0.4, 0.5}, high{0.3, 0.5, 0.1};  // passed in this order, before and after
  EXPECT_LT(first.key_of(high), first.key_of(low));
  EXPECT_LT(grown.key_of(high), grown.key_of(low));
  EXPECT_EQ(first.key_of(low) >> 3, grown.key_of(low) & ((curve_key{1} << 3 * (levels_max - 1)) - 1));
  EXPECT_LT(frame_after(first, {0, 0, 0}, {1e-3, 1e-3, 1e-3}).size, 2e-3);
}

TEST(Curve, place_of_a_key_has_that_key) {
  const frame frame = frame_around({-3, 1, 2}, {5, 2, 4});
  for (const curve_key key : {curve_key{0}, curve_key{0x123456789abcdefu}, (curve_key{1} << 3 * levels_max) - 1}) {
    EXPECT_EQ(frame.key_of(frame.place_of(key)), key);
  }
}

cell_counter counter_of(const std::vector<curve_key>& keys) {
  return [&keys](const std::vector<curve_cell>& cells) {
    std::vector<std::uint64_t> counts;
    for (const curve_cell& each : cells) {
      const auto first = std::lower_bound(keys.begin(), keys.end(), each.first);
      counts.push_back(static_cast<std::uint64_t>(std::lower_bound(first, keys.end(), each.end()) - first));
    }
    return counts;
  };
}

void cut_anew(cutter& cut, std::uint64_t bodies_max, const sorted_bodies& all) {
  const cell_counter count = counter_of(all.keys);
  cut.update(bodies_max, count(cut.cells()), count);
}

TEST(Cutter, finds_the_same_branches_from_the_root_and_from_another_cut) {
  const sorted_bodies all = sorted(5000), others = sorted(900);
  cutter from_root, from_finer, from_coarser;
  cut_anew(from_finer, 10, others);
  cut_anew(from_coarser, 1000, others);
  for (cutter* each : {&from_root, &from_finer, &from_coarser}) cut_anew(*each, 100, all);
  const std::vector<counted_cell> branches = from_root.branches();
  std::uint64_t bodies = 0;
  for (const counted_cell& each : branches) {
    bodies += each.count;
    EXPECT_LE(each.count, 100u);
  }
  EXPECT_EQ(bodies, 5000u);
  for (const cutter* each : {&from_finer, &from_coarser}) {
    const std::vector<counted_cell> counted_cells = each->branches();
    ASSERT_EQ(counted_cells.size(), branches.size());
    for (std::size_t k = 0; k < counted_cells.size(); ++k) {
      EXPECT_EQ(counted_cells[k].cell, branches[k].cell);
      EXPECT_EQ(counted_cells[k].count, branches[k].count);
    }
  }
}

TEST(Cutter, cuts_runs_at_the_places_of_another_frame) {
  const sorted_bodies all = sorted(2000);
  cutter cut;
  cut_anew(cut, 50, all);
  const std::vector<counted_cell> branches = cut.branches();
  const std::vector<std::uint32_t> first = cut_runs(std::vector<double>(branches.size(), 1), 5);
  const frame frame = frame_around({-2, -2, -2}, {2, 2, 2});  // whichever: keys alone decide
  std::vector<vector3> corners;
  for (std::size_t run = 0; run < 5; ++run) corners.push_back(frame.place_of(branches[first[run]].cell.first));
  EXPECT_EQ(runs_from(corners, branches, frame), first);
  std::swap(corners[1], corners[3]);
  const std::vector<std::uint32_t> turned = runs_from(corners, branches, frame);
  EXPECT_TRUE(std::is_sorted(turned.begin(), turned.end()));
  EXPECT_EQ(turned.front(), 0u);
  EXPECT_EQ(turned.back(), branches.size());
}

TEST(Cutter, cuts_runs_of_about_equal_weight) {
  EXPECT_EQ(cut_runs({1, 1, 1, 1, 4, 4}, 3), (std::vector<std::uint32_t>{0, 4, 5, 6}));
  EXPECT_EQ(cut_runs({5}, 2).back(), 1u);
  EXPECT_EQ(cut_runs({5}, 2).front(), 0u);
  EXPECT_EQ(cut_runs({0, 0, 0}, 2).back(), 3u);
  EXPECT_EQ(cut_runs({}, 3), (std::vector<std::uint32_t>{0, 0, 0, 0}));
}

/// By trying all ways to cut.
double least_greatest(const std::vector<double>& weights, std::size_t first, std::uint32_t runs) {
  double sum = 0, least = 1e300;
  if (runs == 1) return std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(first), weights.end(), 0.0);
  for (std::size_t end = first; end <= weights.size(); ++end) {
    least = std::min(least, std::max(sum, least_greatest(weights, end, runs - 1)));
    if (end < weights.size()) sum += weights[end];
  }
  return least;
}

TEST(Cutter, cuts_runs_whose_heaviest_is_as_light_as_can_be) {
  nacre::rng random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const auto runs = static_cast<std::uint32_t>(1 + random.below(4));
    std::vector<double> weights(random.below(12));
    for (double& each : weights) each = static_cast<double>(random.below(20));
    std::vector<std::uint32_t> groups(runs);
    std::iota(groups.begin(), groups.end(), 0U);
    const std::vector<std::uint32_t> first = cut_runs(weights, runs);
    ASSERT_TRUE(std::is_sorted(first.begin(), first.end()));
    ASSERT_EQ(first.size(), runs + 1);
    ASSERT_EQ(first.back(), weights.size());
    ASSERT_LE(greatest_group(weights, first, groups), 1.002 * least_greatest(weights, 0, runs)) << trial;
  }
}

TEST(Cutter, cuts_for_ranks_first_and_then_for_their_pieces) {
  const std::vector<double> weights{1, 1, 1, 1, 2, 2, 4, 4};
  EXPECT_EQ(cut_nested_runs(weights, {0, 0, 1, 1}), (std::vector<std::uint32_t>{0, 4, 6, 7, 8}));
  EXPECT_EQ(cut_nested_runs(weights, {0, 1, 1, 1}).size(), 5u);
  EXPECT_EQ(cut_nested_runs(weights, {0, 1, 1, 1})[1], 6u) << "half of the weight is one piece of rank 0";
  EXPECT_EQ(cut_nested_runs(weights, {0, 1, 0, 1}), cut_runs(weights, 4));
}

}  // namespace
}  // namespace nbody
