// SPDX-License-Identifier: Apache-2.0
// Which parts of the tree a walk can look at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/branch.hpp"
#include "numerics/top_tree.hpp"

namespace nbody {

/// Parts of a branch that travel by themselves: bit 0 stands for its groups, bit 1 + k for the bodies in lane k of its
/// first group (of a branch that is a leaf, bit 1 for all bodies).
using part_mask = std::uint32_t;
inline constexpr std::uint32_t groups_part = 0, parts_max = 1 + group_width;

/// The bodies of a part other than groups_part.
struct body_range {
  std::uint32_t first = 0, count = 0;
};
[[nodiscard]] body_range bodies_of(const branch_root& root, const group_head* groups, std::uint32_t part);

/// The branches that a look is about.
struct looked_branches {
  std::span<const branch_view> views{};
  std::span<const branch_root> roots{};
  std::uint32_t rank = 0;
  bool owned = false;                                        ///< true: those that this rank owns; false: all others
  branch_range range{.first = 0, .end = ~std::uint32_t{0}};  ///< all of them are in it
};

/// Adds the parts that targets in the box may open, to `masks`, which has a mask for each branch. Branches whose groups
/// are not there yet are looked at no further. A walk opens a cell only at a target within the cell's reach, so a cell
/// whose reach ends outside of the box is not opened by any target inside.
void add_essential(const top_tree& top, int order, const looked_branches& branches, const vector3& low,
                   const vector3& high, std::span<part_mask> masks);

}  // namespace nbody
