// SPDX-License-Identifier: Apache-2.0
// A tree to be searched: its nodes, and how many children each of them has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "child_table.hpp"
#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// A node: all that is needed to generate the tree below it.
struct node {
  sha1_state state;
  std::uint32_t depth;

  /// The number below draw_end by which the node draws how many children it has.
  [[nodiscard]] std::uint32_t draw() const noexcept { return state.words[4] & (draw_end - 1); }

  friend bool operator==(const node&, const node&) = default;
};
static_assert(sizeof(node) == 24 && std::is_trivially_copyable_v<node>);

/// An unbalanced tree, given by its parameters and never stored.
///
/// Immutable after construction, so that any number of threads may share one. Construction takes about a tenth of
/// a millisecond for each different mean that a geometric tree has (cyclic T2L: 12 ms).
/// Source: Dinan et al., section 2.1.
class tree {
 public:
  /// Builds tables for at most `tables_max` different means; nodes at the depths that are left use the formula.
  /// Throws nacre::setup_error if the parameters make no sense.
  explicit tree(const tree_params& params, std::size_t tables_max = 1024);

  [[nodiscard]] const tree_params& params() const noexcept { return params_; }

  [[nodiscard]] node root() const noexcept { return {sha1_root(params_.seed), 0}; }

  /// The table for the nodes at `depth`.
  [[nodiscard]] const child_table& table(std::uint32_t depth) const noexcept {
    return tables_[depth < last_depth() ? table_of_depth_[depth] : table_of_depth_.back()];
  }

  /// The number of children of `parent`.
  [[nodiscard]] std::uint32_t children(const node& parent) const noexcept {
    const child_table& t = table(parent.depth);
    return t.is_formula() ? children_by_formula(params_, parent.depth, parent.draw()) : t.children(parent.draw());
  }

  /// The mean number of nodes below a node at `depth` that has children, at most 1e15. An estimate for deciding which
  /// nodes to give away: single trees differ from it by orders of magnitude.
  [[nodiscard]] double expected_descendants(std::uint32_t depth) const noexcept {
    return expected_[depth < last_depth() ? depth : last_depth()];
  }

 private:
  /// From this depth on, all nodes follow the same table.
  [[nodiscard]] std::uint32_t last_depth() const noexcept {
    return static_cast<std::uint32_t>(table_of_depth_.size() - 1);
  }

  void build_tables(std::size_t tables_max);
  void build_expectations();

  tree_params params_;
  std::vector<child_table> tables_;
  std::vector<std::uint32_t> table_of_depth_;
  std::vector<double> expected_;
};

/// The tree of these parameters, made once for all ranks of a process, one after the other: it is a pure function of
/// them, and its tables take some milliseconds. Any thread. Throws as the constructor does.
[[nodiscard]] std::shared_ptr<const tree> shared_tree(const tree_params& params);

}  // namespace uts
