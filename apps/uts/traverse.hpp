// SPDX-License-Identifier: Apache-2.0
// The inner loop of every way to search a tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sha1.hpp"
#include "tree.hpp"

namespace uts {

/// What a search has seen so far. Counts of disjoint parts of a tree combine with +=.
struct tree_counts {
  std::uint64_t nodes = 0;   ///< all nodes, the root included
  std::uint64_t leaves = 0;  ///< those without children
  std::uint32_t depth = 0;   ///< of the deepest node; the root has 0

  tree_counts& operator+=(const tree_counts& other) noexcept {
    nodes += other.nodes;
    leaves += other.leaves;
    depth = std::max(depth, other.depth);
    return *this;
  }
  friend bool operator==(const tree_counts&, const tree_counts&) = default;
};

/// Searches on from the nodes on `stack`, depth first in groups of about 64 hashes, or `budget` if that is less, until
/// the stack is empty or at least `budget` nodes have been generated; stops at most one group, or the last node's
/// children, later.
///
/// The stack holds nodes that have been counted but not expanded, the oldest first. Nodes seen to be leaves are counted
/// when generated and never put there. Every node's full state is computed, also where the shape of the tree already
/// tells that it is a leaf. Throws std::bad_alloc only; the search is then lost.
void traverse_some(const tree& tree, const sha1_kernel& sha1, std::vector<node>& stack, std::uint64_t budget,
                   tree_counts& counts);

}  // namespace uts
