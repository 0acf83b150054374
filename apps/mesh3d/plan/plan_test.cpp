// SPDX-License-Identifier: Apache-2.0
// Octrees, and the points that neighbours share.
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "plan/hull_points.hpp"

namespace mesh3d {
namespace {

plan graded_plan(std::uint32_t subdomains) {
  return make_plan({.size = 0.08, .sources = {{{0.31, 0.27, 0.83}, 0.004, 0.12}}, .subdomains = subdomains});
}

/// A face without the neighbour, by which the two sides name it.
auto name_of(const cube_face& face) { return std::tuple(face.low, face.size, face.axis); }

TEST(Octree, fills_the_cube_and_both_sides_of_a_face_know_each_other) {
  const plan plan = graded_plan(150);
  EXPECT_GE(plan.leaves.size(), 150u);
  double volume = 0;
  std::map<std::tuple<place, std::uint32_t, std::uint32_t>, std::vector<std::pair<std::uint32_t, std::uint32_t>>> sides;
  std::set<std::uint32_t> sizes;
  for (std::size_t k = 0; k < plan.leaves.size(); ++k) {
    const leaf_plan& leaf = plan.leaves[k];
    EXPECT_EQ(leaf.number, k);
    volume += std::pow(to_length(leaf.box.size), 3);
    sizes.insert(leaf.box.size);
    for (const cube_face& face : leaf.faces) sides[name_of(face)].emplace_back(leaf.number, face.neighbour);
  }
  EXPECT_EQ(volume, 1);
  EXPECT_GT(sizes.size(), 2u);
  for (const auto& [name, leaves] : sides) {
    if (leaves.size() == 1) {
      EXPECT_EQ(leaves[0].second, cube_face::nobody);
      continue;
    }
    ASSERT_EQ(leaves.size(), 2u);
    EXPECT_EQ(leaves[0].second, leaves[1].first);
    EXPECT_EQ(leaves[1].second, leaves[0].first);
    const std::uint32_t one = plan.leaves[leaves[0].first].box.size, other = plan.leaves[leaves[1].first].box.size;
    EXPECT_LE(std::max(one, other), 2 * std::min(one, other));
  }
}

TEST(Octree, no_leaf_has_a_corner_within_an_edge) {
  const plan plan = graded_plan(100);
  std::set<place> corners;
  for (const leaf_plan& leaf : plan.leaves) {
    for (std::uint32_t k = 0; k < 8; ++k) {
      place position = leaf.box.low;
      for (unsigned axis = 0; axis < 3; ++axis) position[axis] += (k >> axis & 1) * leaf.box.size;
      corners.insert(position);
    }
  }
  std::size_t halves = 0;
  for (const leaf_plan& leaf : plan.leaves) {
    for (const cube_edge& edge : leaf.edges) {
      place middle = edge.low;
      middle[edge.axis] += edge.size / 2;
      EXPECT_EQ(corners.count(middle), 0u);
      halves += edge.size < leaf.box.size ? 1 : 0;
    }
  }
  EXPECT_GT(halves, 20u);
}

TEST(HullPoints, are_the_same_on_both_sides_of_a_face) {
  const plan plan = graded_plan(60);
  std::map<std::tuple<place, std::uint32_t, std::uint32_t>, std::vector<point>> known;
  std::size_t compared = 0, points = 0;
  for (const leaf_plan& leaf : plan.leaves) {
    for (const cube_face& face : leaf.faces) {
      const std::vector<point> site = points_within(face, leaf.edges, plan.rule.size);
      const auto [entry, fresh] = known.try_emplace(name_of(face), site);
      if (fresh) continue;
      EXPECT_EQ(entry->second, site);
      ++compared;
      points += site.size();
    }
  }
  EXPECT_GT(compared, 100u);
  EXPECT_GT(points, 1000u);
}

TEST(HullPoints, keep_their_distance_and_lie_in_no_circle_over_a_step) {
  const plan plan = graded_plan(30);
  for (const leaf_plan& leaf : plan.leaves) {
    for (const cube_face& face : leaf.faces) {
      const std::vector<point> points = points_within(face, leaf.edges, plan.rule.size);
      for (const cube_edge& side : sides_of(face)) {
        if (std::find(leaf.edges.begin(), leaf.edges.end(), side) == leaf.edges.end()) continue;
        place end = side.low;
        end[side.axis] += side.size;
        std::vector<point> chain{to_point(side.low)};
        for (const point& p : points_within(side, plan.rule.size)) chain.push_back(p);
        chain.push_back(to_point(end));
        EXPECT_GE(chain.size(), 4u);
        for (std::size_t k = 1; k < chain.size(); ++k) {
          for (const point& p : points) EXPECT_GT(dot(chain[k - 1] - p, chain[k] - p), 0);
        }
      }
      for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const double length =
              std::min({plan.rule.size.at(points[i]), plan.rule.size.at(points[j]), to_length(face.size) / steps_min});
          EXPECT_GT(std::sqrt(squared_length(points[i] - points[j])), 0.74 * length);
        }
      }
    }
  }
}

TEST(Plan, lengths_follow_the_number_of_tetrahedra_that_is_asked_for) {
  const plan uniform = make_plan({.tetrahedra = 1'000'000});
  EXPECT_NEAR(expected_tetrahedra({}, uniform.rule.size), 1e6, 1e4);
  EXPECT_EQ(uniform.leaves.size(), 22u);
  const plan graded = make_plan({.tetrahedra = 1'000'000, .sources = {{{0.5, 0.5, 0.5}, 0.001, 0.1}}});
  EXPECT_NEAR(expected_tetrahedra({}, graded.rule.size), 1e6, 3e4);
}

TEST(Plan, counts_the_tetrahedra_that_are_kept) {
  const auto expected = [](const char* input, sides keep) {  // in the whole cube
    const plan plan = make_plan({.input = input, .surface = {.edges_a_turn = 0}, .keep = keep, .tetrahedra = 100'000});
    return expected_tetrahedra({}, plan.rule.size);
  };
  for (const char* input : {"sphere", "knot", "block"}) {  // edges have one length in all of the cube
    const double share = make_plan({.input = input}).surface->of().volume;
    EXPECT_NEAR(expected(input, sides::inside), 1e5 / share, 2e3 / share) << input;
    EXPECT_NEAR(expected(input, sides::outside), 1e5 / (1 - share), 2e3 / (1 - share)) << input;
    EXPECT_NEAR(expected(input, sides::both), 1e5, 2e3) << input;
  }
}

TEST(Plan, refuses_more_than_memory_holds) {
  EXPECT_NO_THROW(make_plan({.tetrahedra = 1'000'000}, 40e6));
  EXPECT_THROW(make_plan({.tetrahedra = 1'000'000}, 30e6), nacre::setup_error);
}

TEST(Plan, refuses_what_cannot_be_made) {
  EXPECT_THROW(make_plan({.size = 1e-4}), nacre::setup_error);
  EXPECT_THROW(make_plan({.size = 0.001, .subdomains = 1}), nacre::setup_error);
  EXPECT_THROW(make_plan({.tetrahedra = 100'000'000'000}), nacre::setup_error);
}

}  // namespace
}  // namespace mesh3d
