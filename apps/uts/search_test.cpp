// SPDX-License-Identifier: Apache-2.0
// Parts of a search find together what the whole would have found.
#include "search.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <nacre/archive.hpp>
#include <random>
#include <string>
#include <utility>

#include "presets.hpp"

namespace uts {
namespace {

using enum tree_type;

const std::vector<tree_params> samples{
    {.shape = tree_shape::fixed, .branching = 4, .depth = 7, .seed = 19},
    {.shape = tree_shape::cyclic, .branching = 4, .depth = 10, .seed = 7},
    {.type = binomial, .branching = 500, .seed = 42, .q = 0.124, .m = 8},
    {.type = hybrid, .branching = 6, .depth = 10, .seed = 1},
};

class search_parts : public testing::TestWithParam<tree_params> {
 protected:
  const tree searched{GetParam()};
  const sha1_kernel sha1 = select_sha1(sha1_choice::automatic);

  tree_counts counts_of(search part) const {
    part.advance(searched, sha1, UINT64_MAX);
    EXPECT_TRUE(part.finished());
    return part.counts();
  }

  /// A search that is under way and can be split.
  search started() const {
    search part = search::of_whole(searched);
    while (part.stack().size() < 10 && !part.finished()) part.advance(searched, sha1, 1);
    EXPECT_GE(part.stack().size(), 10u);
    return part;
  }
};

TEST_P(search_parts, two_halves_count_what_the_whole_counts) {
  const tree_counts whole = counts_of(search::of_whole(searched));
  search kept = started();
  search given = kept.split_half(searched);
  tree_counts sum = counts_of(std::move(kept));
  sum += counts_of(std::move(given));
  EXPECT_EQ(sum, whole);
}

TEST_P(search_parts, a_split_gives_the_oldest_nodes_in_their_order_and_keeps_the_counts_and_the_rest) {
  search kept = started();
  const std::vector<node> nodes = kept.stack();
  const tree_counts counted = kept.counts();
  const search given = kept.split_half(searched);
  std::vector<node> together = given.stack();
  together.insert(together.end(), kept.stack().begin(), kept.stack().end());
  EXPECT_EQ(together, nodes);
  EXPECT_FALSE(given.finished());
  EXPECT_FALSE(kept.finished());
  EXPECT_EQ(kept.counts(), counted);
  EXPECT_EQ(given.counts(), tree_counts{});
}

TEST_P(search_parts, a_split_gives_half_of_the_expected_work_up_to_one_node) {
  search kept = started();
  const double whole = kept.expected_work(searched);
  const search given = kept.split_half(searched);
  const double last = searched.expected_descendants(given.stack().back().depth);
  const double work = given.expected_work(searched);
  const double tolerance = 1e-9 * whole;
  EXPECT_NEAR(work + kept.expected_work(searched), whole, tolerance);
  EXPECT_GE(work, whole / 2 - tolerance);
  EXPECT_LT(work - last, whole / 2 + tolerance);
}

TEST_P(search_parts, many_random_splits_and_slices_lose_nothing) {
  const tree_counts whole = counts_of(search::of_whole(searched));
  std::mt19937 random(6);
  std::deque<search> parts;
  parts.push_back(search::of_whole(searched));
  tree_counts sum;
  std::size_t splits = 0;
  while (!parts.empty()) {
    std::swap(parts.front(), parts[random() % parts.size()]);
    search part = std::move(parts.front());
    parts.pop_front();
    part.advance(searched, sha1, 1 + random() % 200);
    if (part.worth_splitting(searched, 1) && random() % 3 == 0) {
      parts.push_back(part.split_half(searched));
      ++splits;
    }
    if (part.finished()) {
      sum += part.counts();
    } else {
      parts.push_back(std::move(part));
    }
  }
  EXPECT_EQ(sum, whole);
  EXPECT_GT(splits, 10u);
}

TEST_P(search_parts, a_search_survives_the_way_to_another_rank) {
  search part = started();
  nacre::expected<search, nacre::wire_error> arrived = nacre::unpack<search>(nacre::pack(part));
  ASSERT_TRUE(arrived.has_value());
  EXPECT_EQ(arrived->stack(), part.stack());
  EXPECT_EQ(arrived->counts(), part.counts());
  EXPECT_EQ(counts_of(std::move(*arrived)), counts_of(std::move(part)));
}

INSTANTIATE_TEST_SUITE_P(samples, search_parts, testing::ValuesIn(samples), [](const auto& params) {
  return std::string(tree_type_names[static_cast<std::size_t>(params.param.type)]) + std::to_string(params.index);
});

TEST(search, splitting_is_worth_it_when_there_is_enough_to_give_and_something_to_keep) {
  const sha1_kernel sha1 = select_sha1(sha1_choice::automatic);
  const tree searched({.shape = tree_shape::fixed, .branching = 4, .depth = 8, .seed = 19});
  search part = search::of_whole(searched);
  EXPECT_FALSE(part.worth_splitting(searched, 1)) << "one node cannot be shared";
  part.advance(searched, sha1, 1);
  ASSERT_GE(part.stack().size(), 2u);
  const double work = part.expected_work(searched);
  EXPECT_TRUE(part.worth_splitting(searched, work / 2 * 0.99));
  EXPECT_FALSE(part.worth_splitting(searched, work / 2 * 1.01));
  part.advance(searched, sha1, UINT64_MAX);
  EXPECT_FALSE(part.worth_splitting(searched, 0));
}

TEST(search, a_fresh_search_is_finished_and_has_counted_nothing) {
  const search nothing;
  EXPECT_TRUE(nothing.finished());
  EXPECT_EQ(nothing.counts(), tree_counts{});
}

}  // namespace
}  // namespace uts
