// SPDX-License-Identifier: Apache-2.0
// The tree as it is stored and sent: the children of a cell are one group of eight lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "indices.hpp"

namespace nbody {

inline constexpr int group_width = 8;

/// What a walk reads of the cells in a group, whatever the order of their expansions. Lanes are in the order of the
/// curve, and those that no cell has are not in `used`. Lengths are in the units of the tree.
struct alignas(64) group_head {
  double x[group_width], y[group_width], z[group_width];  ///< centres of mass
  float radius[group_width];                              ///< all bodies of the cell are so near to its centre
  float reach[group_width];          ///< the cell may stand for its bodies at larger distances than this
  std::uint32_t link[group_width];   ///< index of the group of its children; of a leaf: its first body; see `branches`
  std::uint32_t count[group_width];  ///< bodies
  float mass[group_width];
  std::uint32_t index;   ///< of this group among those of its array
  std::uint32_t branch;  ///< that the group belongs to
  std::uint8_t used, leaves;
  std::uint8_t branches;  ///< lanes that are the root of a branch, whose number is `link`
};

/// A group for expansions of order `Order`: terms with degrees of source and target that sum up to `Order`. A source of
/// degree `Order` would only change the potential's constant, so multipoles end at Order - 1.
template <int Order>
struct group : group_head {
  static constexpr int source_degree = Order - 1;
  /// (-1)^|n| sum m x^n / n!, for the multi-indices n from position 4 on.
  float moments[stored_moments(source_degree) == 0 ? 1 : stored_moments(source_degree)][group_width];
};

/// Bytes of a group of this order.
std::size_t group_bytes(int order);

/// Bodies of a branch: positions relative to the centre of mass of their leaf.
struct body_lanes {
  const float *x = nullptr, *y = nullptr, *z = nullptr, *mass = nullptr;
};

/// What a walk sees of a branch. The groups are null where the branch is a single leaf, or has not been fetched.
struct branch_view {
  const group_head* groups = nullptr;
  body_lanes bodies{};
};

}  // namespace nbody
