// SPDX-License-Identifier: Apache-2.0
// The top of the tree, from the root down to the roots of the branches. Every rank builds it alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "branch.hpp"

namespace nbody {

/// Where the root of a branch is in the top tree.
struct top_place {
  std::uint32_t group = 0;
  int lane = 0;
};

/// Branches that follow each other along the curve.
struct branch_range {
  std::uint32_t first = 0, end = 0;
};

struct top_tree {
  group_array groups{};               ///< the first has one lane, the root of all
  std::vector<top_place> places{};    ///< by branch
  std::vector<branch_range> below{};  ///< by group: the branches of all its lanes

  [[nodiscard]] const group_head* root() const noexcept { return groups.first(); }
  [[nodiscard]] const group_head* group_at(std::uint32_t index, int order) const noexcept;
};

/// `roots` are in the order of the curve, and of the same tree_rules.
[[nodiscard]] top_tree build_top(std::span<const branch_root> roots, const tree_rules& rules);

/// A cell that becomes a branch, with its bodies.
struct counted_cell {
  curve_cell cell{};
  std::uint64_t count = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cell, count);
  }
};

/// The unit of length in which branches have a size of about 1: the power of two of the cube's size that is nearest to
/// the bodies' mean.
[[nodiscard]] double unit_of(std::span<const counted_cell> branches, double size);

}  // namespace nbody
