// SPDX-License-Identifier: Apache-2.0
// Forces of all bodies in one process and one thread: the reference for the program on many ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "branch.hpp"
#include "top_tree.hpp"
#include "walk.hpp"

namespace nbody {

/// Which cells become branches: those with at most this many bodies whose parents have more.
inline constexpr std::uint64_t branch_bodies_max = 4096;

/// The rules for one walk, in the units of the tree.
[[nodiscard]] walk_rules walk_rules_for(const tree_rules& rules, const softening& soft, bool potential);

/// Factors from the units of the tree to those of the bodies, for G = 1.
struct result_units {
  double acceleration, potential;
};
[[nodiscard]] result_units units_of(const tree_rules& rules) noexcept;

/// Processor time of this thread, which other programs do not lengthen.
[[nodiscard]] double thread_seconds() noexcept;

struct forest_result {
  std::vector<vector3> accelerations;  ///< by place in the sorted bodies
  std::vector<double> potentials;      ///< likewise; empty unless they were asked for
  walk_counts counts;
  std::uint32_t branches = 0;
  double sort_seconds = 0, tree_seconds = 0, walk_seconds = 0;
};

/// Sorts the bodies along the curve and computes their accelerations, for G = 1.
forest_result forces_of(std::vector<body>& bodies, const accuracy& wanted, const softening& soft,
                        const kernel_set& kernels, bool potential);

}  // namespace nbody
