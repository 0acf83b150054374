// SPDX-License-Identifier: Apache-2.0
// Trees: parameters, tables by depth, expectations.
#include "tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nacre/error.hpp>
#include <random>
#include <stdexcept>
#include <string>

#include "reference.hpp"

namespace uts {
namespace {

using enum tree_type;

/// One tree of each kind and shape, shallow enough that depths beyond its last one are tried as well.
const std::vector<tree_params> sample_trees{
    {.type = geometric, .shape = tree_shape::linear, .branching = 4, .depth = 7},
    {.type = geometric, .shape = tree_shape::expdec, .branching = 3, .depth = 5},
    {.type = geometric, .shape = tree_shape::cyclic, .branching = 6, .depth = 4},
    {.type = geometric, .shape = tree_shape::fixed, .branching = 4, .depth = 10},
    {.type = geometric, .shape = tree_shape::fixed, .branching = 5000, .depth = 2},
    {.type = binomial, .branching = 2000.7, .q = 0.124875, .m = 8},
    {.type = binomial, .branching = 3, .q = 0.01, .m = 100},
    {.type = hybrid, .shape = tree_shape::linear, .branching = 6, .depth = 16, .q = 0.234375, .m = 4},
    {.type = hybrid, .shape = tree_shape::fixed, .branching = 2, .depth = 3, .q = 0.25, .m = 2, .f = 0.7},
    {.type = hybrid, .shape = tree_shape::fixed, .branching = 2, .depth = 3, .q = 0.25, .m = 2, .f = 0},
    {.type = balanced, .branching = 3.9, .depth = 5},
    {.type = balanced, .branching = 300, .depth = 2},
};

/// Whether a node at this depth can exist; the formulas say nothing about others.
bool reachable(const tree_params& params, std::uint32_t depth) {
  const bool linear = params.type == geometric && params.shape == tree_shape::linear;
  return !linear || depth <= params.depth;
}

void expect_children_of_the_formula(const tree& subject) {
  std::mt19937 random(4);
  for (std::uint32_t depth = 0; depth < 30; ++depth) {
    if (!reachable(subject.params(), depth)) continue;
    for (int k = 0; k < 300; ++k) {
      const node n{{{0, 0, 0, 0, static_cast<std::uint32_t>(random())}}, depth};
      const std::uint32_t expected = reference::children(subject.params(), depth, n.draw());
      ASSERT_EQ(subject.children(n), expected) << describe(subject.params()) << " at depth " << depth;
      ASSERT_TRUE(expected == 0 || subject.table(depth).maybe_inner(n.draw()));
    }
  }
}

TEST(tree, the_root_of_t1_draws_the_published_number_and_has_5_children) {
  const tree t1({.type = geometric, .shape = tree_shape::fixed, .branching = 4, .depth = 10, .seed = 19});
  EXPECT_EQ(t1.root().draw(), 1518729323u);
  EXPECT_EQ(t1.root().depth, 0u);
  EXPECT_EQ(t1.children(t1.root()), 5u);
}

TEST(tree, nodes_at_every_depth_have_the_children_of_the_formula) {
  for (const tree_params& params : sample_trees) expect_children_of_the_formula(tree(params));
}

TEST(tree, nodes_at_depths_without_a_table_have_them_too) {
  for (const tree_params& params : sample_trees) {
    for (const std::size_t tables_max : {0, 1, 2}) expect_children_of_the_formula(tree(params, tables_max));
  }
}

TEST(tree, a_tree_of_shape_expdec_has_the_children_of_the_formula_at_any_depth) {
  const tree endless({.shape = tree_shape::expdec, .branching = 3, .depth = 5});
  for (const std::uint32_t depth : {1000u, 1023u, 1024u, 1025u, 5000u, 1'000'000u}) {
    for (const std::uint32_t draw : {0u, draw_end / 10 * 9, draw_end - 1000, draw_end - 1}) {
      const node n{{{0, 0, 0, 0, draw}}, depth};
      EXPECT_EQ(endless.children(n), reference::children(endless.params(), depth, draw)) << depth << " " << draw;
    }
  }
}

TEST(tree, a_tree_as_deep_as_allowed_is_built_with_a_bounded_number_of_tables) {
  const tree deep({.type = geometric, .shape = tree_shape::linear, .branching = 1.001, .depth = 1'000'000}, 4);
  for (const std::uint32_t depth : {0u, 3u, 4u, 500'000u, 999'999u, 1'000'000u}) {
    const node n{{{0, 0, 0, 0, draw_end - 1}}, depth};
    EXPECT_EQ(deep.children(n), reference::children(deep.params(), depth, n.draw())) << depth;
  }
}

TEST(tree, the_expected_number_of_descendants_follows_the_means) {
  const tree fixed({.type = geometric, .shape = tree_shape::fixed, .branching = 4, .depth = 3});
  EXPECT_DOUBLE_EQ(fixed.expected_descendants(2), 5);            // a node that has any has 1 + 4 on average
  EXPECT_DOUBLE_EQ(fixed.expected_descendants(1), 5 * (1 + 4));  // each with a mean subtree of 1 + 4
  EXPECT_DOUBLE_EQ(fixed.expected_descendants(0), 5 * (1 + 20));
  const tree critical({.type = binomial, .branching = 2000, .q = 0.124, .m = 8});
  EXPECT_NEAR(critical.expected_descendants(12345), 8 / (1 - 0.992), 1e-6);
  EXPECT_NEAR(critical.expected_descendants(0), 2000 / (1 - 0.992), 1e-3);
  const tree endless({.type = binomial, .branching = 2000, .q = 0.200014, .m = 5});
  EXPECT_EQ(endless.expected_descendants(7), 1e15);
  const tree even({.type = balanced, .branching = 2, .depth = 3});
  EXPECT_DOUBLE_EQ(even.expected_descendants(0), 14);
}

TEST(tree, parameters_that_make_no_tree_are_refused_with_the_option_to_change) {
  const auto refusal = [](const tree_params& params) -> std::string {
    try {
      tree refused(params);
      return "accepted";
    } catch (const nacre::setup_error& error) {
      return error.what();
    }
  };
  const auto names = [&](const tree_params& params, const char* option) {
    return refusal(params).find(option) != std::string::npos;
  };
  EXPECT_TRUE(names({.branching = 0}, "--branching"));
  EXPECT_TRUE(names({.branching = std::nan("")}, "--branching"));
  EXPECT_TRUE(names({.branching = 1e7}, "--branching"));
  EXPECT_TRUE(names({.type = binomial, .branching = -1}, "--branching"));
  EXPECT_TRUE(names({.depth = 0}, "--depth"));
  EXPECT_TRUE(names({.depth = 1'000'001}, "--depth"));
  EXPECT_TRUE(names({.shape = tree_shape::expdec, .depth = 1}, "--depth"));
  EXPECT_TRUE(names({.type = binomial, .q = 1.5}, "--q"));
  EXPECT_TRUE(names({.type = binomial, .m = 101}, "try --m between 0 and 100"));
  EXPECT_TRUE(names({.type = hybrid, .m = 101}, "--m"));
  EXPECT_TRUE(names({.type = hybrid, .f = -1}, "--f"));
  EXPECT_TRUE(names({.granularity = 0}, "--granularity"));
  EXPECT_EQ(refusal({.type = geometric, .q = 1.5}), "accepted") << "a geometric tree does not read q";
  EXPECT_EQ(refusal({.type = geometric, .m = 101}), "accepted") << "nor m";
}

TEST(tree_params, two_sets_are_the_same_tree_when_they_differ_only_in_what_the_type_does_not_read) {
  const tree_params base{.type = geometric, .shape = tree_shape::fixed, .branching = 4, .depth = 10, .seed = 19};
  const auto changed = [](tree_params params, auto change) {
    change(params);
    return params;
  };
  EXPECT_TRUE(same_tree(base, changed(base, [](auto& p) { p.q = 0.5, p.m = 9, p.f = 0.1, p.granularity = 3; })));
  EXPECT_FALSE(same_tree(base, changed(base, [](auto& p) { p.seed = 20; })));
  EXPECT_FALSE(same_tree(base, changed(base, [](auto& p) { p.depth = 11; })));
  EXPECT_FALSE(same_tree(base, changed(base, [](auto& p) { p.shape = tree_shape::linear; })));
  EXPECT_FALSE(same_tree(base, changed(base, [](auto& p) { p.branching = 4.5; })));
  EXPECT_FALSE(same_tree(base, changed(base, [](auto& p) { p.type = hybrid; })));

  const tree_params two = changed(base, [](auto& p) { p.type = binomial; });
  EXPECT_TRUE(same_tree(two, changed(two, [](auto& p) { p.depth = 3, p.shape = tree_shape::cyclic, p.f = 0; })));
  EXPECT_FALSE(same_tree(two, changed(two, [](auto& p) { p.q = 0.5; })));
  EXPECT_FALSE(same_tree(two, changed(two, [](auto& p) { p.m = 5; })));

  const tree_params three = changed(base, [](auto& p) { p.type = hybrid; });
  EXPECT_FALSE(same_tree(three, changed(three, [](auto& p) { p.f = 0.25; })));

  const tree_params four = changed(base, [](auto& p) { p.type = balanced; });
  EXPECT_TRUE(same_tree(four, changed(four, [](auto& p) { p.seed = 1, p.shape = tree_shape::linear; })));
  EXPECT_FALSE(same_tree(four, changed(four, [](auto& p) { p.depth = 4; })));
}

TEST(tree_params, a_description_names_what_the_type_reads) {
  EXPECT_EQ(describe({.type = binomial, .branching = 2000, .seed = 42, .q = 0.5, .m = 8}),
            "binomial, branching 2000, q 0.5, m 8, seed 42");
  EXPECT_EQ(describe({.type = geometric, .shape = tree_shape::cyclic, .depth = 3, .granularity = 2}),
            "geometric, shape cyclic, depth 3, branching 4, seed 0, granularity 2");
  EXPECT_EQ(describe({.type = balanced, .branching = 2, .depth = 5}), "balanced, depth 5, branching 2");
}

TEST(validate, refuses_types_and_shapes_that_have_come_from_a_liar) {
  EXPECT_THROW(validate({.type = static_cast<tree_type>(4)}), std::out_of_range);
  EXPECT_THROW(validate({.shape = static_cast<tree_shape>(-1)}), std::out_of_range);
}

}  // namespace
}  // namespace uts
