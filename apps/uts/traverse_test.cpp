// SPDX-License-Identifier: Apache-2.0
// A traversal counts every node once, however it is sliced.
#include "traverse.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "presets.hpp"
#include "reference.hpp"

namespace uts {
namespace {

using enum tree_type;

#if defined(__OPTIMIZE__)  // as no build for a sanitizer
constexpr bool fast_build = true;
#else
constexpr bool fast_build = false;
#endif

tree_counts count(const tree& searched, const sha1_kernel& sha1, std::uint64_t budget = UINT64_MAX) {
  std::vector<node> stack{searched.root()};
  tree_counts counts{.nodes = 1};
  while (!stack.empty()) traverse_some(searched, sha1, stack, budget, counts);
  return counts;
}

const sha1_kernel& best_kernel() {
  static const sha1_kernel best = select_sha1(sha1_choice::automatic);
  return best;
}

/// Random parameters of a tree that stays small on average, of any type and shape.
tree_params small_tree(std::mt19937& random) {
  tree_params params;
  const auto range = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / std::mt19937::max());
  };
  params.type = static_cast<tree_type>(random() % 4);
  params.shape = static_cast<tree_shape>(random() % 4);
  params.depth = static_cast<std::uint32_t>(2 + random() % 4);
  params.branching = params.type == binomial ? range(0, 300) : range(0.5, 3.5);
  params.m = static_cast<std::uint32_t>(random() % 10);
  params.q = params.m == 0 ? 0.5 : range(0, 0.9) / params.m;
  params.f = range(0, 1.2);
  params.seed = static_cast<std::uint32_t>(random());
  // Grows for ever where b is below 1, since the shape then widens the tree with depth.
  if (params.shape == tree_shape::expdec) params.branching = std::max(params.branching, 1.2);
  return params;
}

TEST(traverse, small_trees_of_every_kind_have_the_counts_of_brute_force) {
  std::mt19937 random(5);
  std::uint64_t nodes = 0;
  for (int k = 0; k < 400; ++k) {
    const tree_params params = small_tree(random);
    const tree_counts expected = reference::count(params);
    nodes += expected.nodes;
    const tree searched(params, k % 3);
    for (const sha1_kernel& sha1 : reference::kernels()) {
      ASSERT_EQ(count(searched, sha1), expected) << describe(params) << ", SHA-1 " << sha1.name;
    }
  }
  EXPECT_GT(nodes, 20'000u) << "the samples have become too small to show anything";
}

TEST(traverse, the_geometric_series_has_the_published_sizes) {
  constexpr std::array<std::uint64_t, 8> nodes{6, 65, 254, 944, 3987, 16000, 63914, 257042};
  for (std::uint32_t depth = 1; depth <= nodes.size(); ++depth) {
    const tree searched({.shape = tree_shape::fixed, .branching = 4, .depth = depth, .seed = 19});
    const tree_counts counts = count(searched, best_kernel());
    EXPECT_EQ(counts.nodes, nodes[depth - 1]);
    EXPECT_EQ(counts.depth, depth);
  }
}

class published_trees : public testing::TestWithParam<std::string> {};

TEST_P(published_trees, have_their_published_counts) {
  const preset& known = find_preset(GetParam());
  EXPECT_EQ(count(tree(known.params), best_kernel()),
            (tree_counts{known.size.nodes, *known.size.leaves, *known.size.depth}));
}

/// 4 million nodes each: where nothing is optimized, one has to do.
std::vector<std::string> affordable() {
  if (fast_build) return {"T1", "T2", "T3", "T4", "T5"};
  return {"T4"};
}

INSTANTIATE_TEST_SUITE_P(sample, published_trees, testing::ValuesIn(affordable()),
                         [](const auto& name) { return name.param; });

TEST(traverse, a_balanced_tree_has_the_size_of_its_closed_form) {
  const tree_counts counts = count(tree({.type = balanced, .branching = 3, .depth = 9}), best_kernel());
  EXPECT_EQ(counts, (tree_counts{29524, 19683, 9}));
}

TEST(traverse, a_balanced_tree_may_have_more_than_100_children_a_node_and_a_geometric_one_may_not) {
  EXPECT_EQ(count(tree({.type = balanced, .branching = 131, .depth = 2}), best_kernel()),
            (tree_counts{1 + 131 + 131 * 131, 131 * 131, 2}));
  const tree_params wide{.shape = tree_shape::fixed, .branching = 1e6, .depth = 1};
  EXPECT_EQ(count(tree(wide), best_kernel()).nodes, 101u);
}

TEST(traverse, a_binomial_root_with_thousands_of_children_has_the_counts_of_brute_force) {
  const tree_params params{.type = binomial, .branching = 5001, .seed = 3, .q = 0.1, .m = 3};
  EXPECT_EQ(count(tree(params), best_kernel()), reference::count(params));
}

TEST(traverse, a_root_without_children_is_a_leaf) {
  const tree_params params{.type = binomial, .branching = 0};
  EXPECT_EQ(count(tree(params), best_kernel()), (tree_counts{1, 1, 0}));
}

TEST(traverse, the_budget_slices_the_search_without_changing_it) {
  // The second one's root ends in a run of one child, which waits for a full group when the budget is spent.
  for (const tree_params& params : {tree_params{.shape = tree_shape::fixed, .branching = 4, .depth = 6, .seed = 19},
                                    tree_params{.type = binomial, .branching = 501, .seed = 3, .q = 0.1, .m = 3}}) {
    const tree searched(params);
    const tree_counts whole = count(searched, best_kernel());
    for (const std::uint64_t budget : {1, 2, 31, 32, 33, 100, 1000}) {
      EXPECT_EQ(count(searched, best_kernel(), budget), whole) << describe(params) << ", budget " << budget;
    }
  }
}

TEST(traverse, a_slice_generates_its_budget_and_at_most_a_group_more) {
  const tree searched({.shape = tree_shape::fixed, .branching = 4, .depth = 8, .seed = 19});
  std::vector<node> stack{searched.root()};
  tree_counts counts{.nodes = 1};
  for (const std::uint64_t budget : {1, 10, 100, 1000, 10'000}) {
    const std::uint64_t previous = counts.nodes;
    traverse_some(searched, best_kernel(), stack, budget, counts);
    EXPECT_GE(counts.nodes - previous, budget);
    EXPECT_LE(counts.nodes - previous, budget + 32 + 2 * 100);
  }
}

TEST(traverse, a_small_budget_makes_small_groups) {
  const tree pairs({.type = tree_type::balanced, .branching = 2, .depth = 12});
  std::vector<node> stack{pairs.root()};
  tree_counts counts{.nodes = 1};
  traverse_some(pairs, best_kernel(), stack, 200, counts);
  for (const std::uint64_t budget : {2, 8, 32}) {
    const std::uint64_t previous = counts.nodes;
    traverse_some(pairs, best_kernel(), stack, budget, counts);
    EXPECT_EQ(counts.nodes - previous, budget);
  }
}

TEST(traverse, a_budget_of_nothing_does_nothing) {
  const tree searched({.shape = tree_shape::fixed, .branching = 4, .depth = 8, .seed = 19});
  std::vector<node> stack{searched.root()};
  tree_counts counts{.nodes = 1};
  traverse_some(searched, best_kernel(), stack, 0, counts);
  EXPECT_EQ(stack, std::vector<node>{searched.root()});
  EXPECT_EQ(counts, (tree_counts{1, 0, 0}));
}

TEST(traverse, leaves_never_reach_the_stack) {
  const tree searched({.type = hybrid, .branching = 6, .depth = 10, .seed = 1});
  std::vector<node> stack{searched.root()};
  tree_counts counts{.nodes = 1};
  for (int slice = 0; slice < 100 && !stack.empty(); ++slice) {
    traverse_some(searched, best_kernel(), stack, 500, counts);
    for (const node& n : stack) ASSERT_GT(searched.children(n), 0u);
  }
  EXPECT_GT(counts.leaves, 1000u);
}

TEST(traverse, granularity_repeats_each_hash_and_changes_nothing_else) {
  tree_params params{.shape = tree_shape::fixed, .branching = 4, .depth = 4, .seed = 19};
  const tree_counts once = count(tree(params), best_kernel());
  static std::uint64_t hashes;
  hashes = 0;
  const sha1_kernel counting{"counting",
                             [](const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out) {
                               hashes += jobs.size();
                               hash_children_portable(parents, jobs, out);
                             }};
  params.granularity = 3;
  EXPECT_EQ(count(tree(params), counting), once);
  EXPECT_EQ(hashes, 3 * (once.nodes - 1));
}

}  // namespace
}  // namespace uts
