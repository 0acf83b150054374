// SPDX-License-Identifier: Apache-2.0
// What defines a tree: its type and parameters, and the formula for the number of children that follows from them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace uts {

/// The family of the tree; the numbers are those of the UTS benchmark's option -t.
enum class tree_type { binomial = 0, geometric = 1, hybrid = 2, balanced = 3 };

/// How the mean number of children of a geometric tree changes with depth; the numbers are those of option -a.
enum class tree_shape { linear = 0, expdec = 1, cyclic = 2, fixed = 3 };

/// Names of the enumerators, in order.
inline constexpr std::array<std::string_view, 4> tree_type_names{"binomial", "geometric", "hybrid", "balanced"};
inline constexpr std::array<std::string_view, 4> tree_shape_names{"linear", "expdec", "cyclic", "fixed"};

/// All that a tree is made from: equal parameters give the same tree on every machine. Trivially copyable.
struct tree_params {
  tree_type type = tree_type::geometric;
  tree_shape shape = tree_shape::linear;
  double branching = 4;           ///< b: mean number of children near the root; of a binomial root, its exact number
  std::uint32_t depth = 6;        ///< d: the depth that shapes are measured by
  std::uint32_t seed = 0;         ///< r
  double q = 15.0 / 64;           ///< binomial: the probability that a node other than the root has children
  std::uint32_t m = 4;            ///< binomial: how many it then has, at most children_max
  double f = 0.5;                 ///< hybrid: geometric above depth f * d, binomial below
  std::uint32_t granularity = 1;  ///< g: how often each hash is computed; changes the cost, not the tree

  friend bool operator==(const tree_params&, const tree_params&) = default;
};

/// Nodes have at most this many children, except a binomial root and in balanced trees.
inline constexpr std::uint32_t children_max = 100;

/// States are read as a number below 2^31, which stands for the fraction draw / 2^31.
inline constexpr std::uint32_t draw_end = std::uint32_t{1} << 31;

/// Throws nacre::setup_error, naming the option to change, unless every number makes sense for the tree's type.
void validate(const tree_params& params);

/// Whether both describe the same tree: parameters that the type does not read, and granularity, do not count.
[[nodiscard]] bool same_tree(const tree_params& a, const tree_params& b);

/// For people: "geometric, shape fixed, depth 10, branching 4, seed 19". Names only what the type reads.
[[nodiscard]] std::string describe(const tree_params& params);

/// How nodes of one depth get their children.
enum class child_rule {
  constant,   ///< every node has as many
  binomial,   ///< m or none, by the draw
  geometric,  ///< a geometric distribution, by the draw
};

/// The rule for nodes at `depth`.
[[nodiscard]] child_rule rule_at(const tree_params& params, std::uint32_t depth) noexcept;

/// The mean number of children of a node at `depth`, before the limit of children_max.
[[nodiscard]] double mean_children(const tree_params& params, std::uint32_t depth) noexcept;

/// The number of children of a node at `depth` whose state draws `draw` < draw_end, by the defining formula in double
/// arithmetic. Slow (two logarithms); the tables in `tree` give the same numbers.
[[nodiscard]] std::uint32_t children_by_formula(const tree_params& params, std::uint32_t depth,
                                                std::uint32_t draw) noexcept;

/// The same for a geometric distribution with a given mean.
[[nodiscard]] std::uint32_t geometric_children(double mean, std::uint32_t draw) noexcept;

}  // namespace uts
