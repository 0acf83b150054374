// SPDX-License-Identifier: Apache-2.0
// Keys, sorting, and the cut into branches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

TEST(Cutter, finds_the_same_branches_from_the_root_and_from_another_cut) {
  const sorted_bodies all = sorted(5000), others = sorted(900);
  cutter from_root, from_finer, from_coarser;
  from_finer.update(10, counter_of(others.keys));
  from_coarser.update(1000, counter_of(others.keys));
  for (cutter* each : {&from_root, &from_finer, &from_coarser}) each->update(100, counter_of(all.keys));
  const std::vector<counted_cell> branches = from_root.branches();
  std::uint64_t bodies = 0;
  for (const counted_cell& each : branches) {
    bodies += each.count;
    EXPECT_LE(each.count, 100u);
  }
  EXPECT_EQ(bodies, 5000u);
  for (const cutter* each : {&from_finer, &from_coarser}) {
    const std::vector<counted_cell> found = each->branches();
    ASSERT_EQ(found.size(), branches.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].cell, branches[k].cell);
      EXPECT_EQ(found[k].count, branches[k].count);
    }
  }
}

TEST(Cutter, cuts_runs_of_about_equal_weight) {
  EXPECT_EQ(cut_runs({1, 1, 1, 1, 4, 4}, 3), (std::vector<std::uint32_t>{0, 4, 5, 6}));
  EXPECT_EQ(cut_runs({5}, 2).back(), 1u);
  EXPECT_EQ(cut_runs({5}, 2).front(), 0u);
}

}  // namespace
}  // namespace nbody
