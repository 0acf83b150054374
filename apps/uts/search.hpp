// SPDX-License-Identifier: Apache-2.0
// A part of a search that can be run, split in two, and sent to another place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sha1.hpp"
#include "traverse.hpp"
#include "tree.hpp"

namespace uts {

/// What one node costs where time is simulated: about what --sequential measures on a core with SHA instructions.
inline constexpr double seconds_a_node = 20e-9;

/// The unit of work: nodes still to be expanded, and what has been counted on the way.
///
/// It owns its data and refers to nothing outside, so that it can be moved, serialized, and run anywhere that a `tree`
/// of the same parameters exists. The counts of all parts that a search was split into add up to those of the whole
/// tree. Not thread-safe.
class search {
 public:
  /// Nothing to do, nothing counted.
  search() = default;

  /// The search of a whole tree; has counted the root.
  [[nodiscard]] static search of_whole(const tree& tree);

  [[nodiscard]] bool finished() const noexcept { return stack_.empty(); }
  [[nodiscard]] const tree_counts& counts() const noexcept { return counts_; }

  /// The nodes to be expanded, the oldest and therefore shallowest first.
  [[nodiscard]] const std::vector<node>& stack() const noexcept { return stack_; }

  /// Generates about `budget` nodes more, or all that are left; see traverse_some.
  void advance(const tree& tree, const sha1_kernel& sha1, std::uint64_t budget) {
    traverse_some(tree, sha1, stack_, budget, counts_);
  }

  /// Whether there is something to give and to keep, and what split_half would give is expected to have at least
  /// `descendants_min` nodes below it. A search costs some microseconds to send, a node some tens of nanoseconds to
  /// generate. Looks at no more of the stack than it must.
  [[nodiscard]] bool worth_splitting(const tree& tree, double descendants_min = 1000) const noexcept;

  /// Gives away the oldest nodes, as many as hold half of the expected work, at least one and not all; the counts stay
  /// here. When all nodes promise as much, that is the older half of the stack. Requires at least two nodes on the
  /// stack.
  [[nodiscard]] search split_half(const tree& tree);

  /// Gives away the `count` oldest nodes; the counts stay here. Requires more than `count` nodes on the stack.
  [[nodiscard]] search split_oldest(std::size_t count);

  /// Takes over the nodes and the counts of another part, which is left without.
  void take_over(search&& other);

  /// The expected number of nodes still to be generated; an estimate in the unit of tree::expected_descendants.
  [[nodiscard]] double expected_work(const tree& tree) const noexcept;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(stack_, counts_.nodes, counts_.leaves, counts_.depth);
  }

 private:
  std::vector<node> stack_;
  tree_counts counts_;
};

}  // namespace uts
