// SPDX-License-Identifier: Apache-2.0
// Places where a surface meets itself, and the tree of boxes, on long thin triangles.
#include "surface/crossings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <nacre/rng.hpp>

#include "geometry/predicates.hpp"
#include "surface/triangle_tree.hpp"
#include "surface/troubled_surface.hpp"

namespace mesh3d {
namespace {

std::vector<surface_edge> edges_of(const surface_mesh& mesh) {
  std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> table;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax({mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]});
      table[{a, b}].push_back(t);
    }
  }
  std::vector<surface_edge> edges;
  for (const auto& [ends, triangles] : table) {
    for (const std::uint32_t t : triangles) edges.push_back({ends, {triangles.front(), t}});
  }
  return edges;
}

triangle_tree tree_of(const surface_mesh& mesh) { return {mesh, std::vector<double>(mesh.triangles.size())}; }

crossing_search search_in(const surface_mesh& mesh) { return find_crossing(mesh, edges_of(mesh), tree_of(mesh)); }

bool crosses(const surface_mesh& mesh) { return search_in(mesh).pair.has_value(); }

/// Whether an edge meets a triangle, by all pairs.
bool an_edge_meets_a_triangle(const surface_mesh& mesh) {
  for (const surface_edge& edge : edges_of(mesh)) {
    const auto [a, b] = edge.ends;
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto& value = mesh.triangles[t];
      if (std::find(value.begin(), value.end(), a) != value.end() ||
          std::find(value.begin(), value.end(), b) != value.end())
        continue;
      if (meets(mesh.points[a], mesh.points[b], mesh.corners(t))) return true;
    }
  }
  return false;
}

TEST(Crossings, are_found_between_triangles_that_share_a_corner_or_an_edge) {
  const std::vector<point> points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0.4, -1}, {0.5, 0.4, 1}, {0.6, 0.5, 0}};
  EXPECT_TRUE(crosses({.points = points, .triangles = {{0, 1, 2}, {0, 3, 4}}}));   // through the other one
  EXPECT_FALSE(crosses({.points = points, .triangles = {{0, 1, 2}, {1, 2, 4}}}));  // neighbours
  EXPECT_TRUE(crosses({.points = points, .triangles = {{0, 1, 2}, {0, 1, 5}}}));   // folded flat
}

TEST(Crossings, are_those_of_all_pairs) {
  std::uint64_t found_count = 0, clean = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    surface_mesh mesh = troubled_surface::make(seed);
    const auto [low, high] = bounds_of(mesh);
    const point size = high - low;
    const double most = std::max({size.x, size.y, size.z});
    if (!(most > 1e-6) || !(most < 1e6)) continue;
    for (point& p : mesh.points) {
      p = (p - low) * (1 / most);
      for (unsigned axis = 0; axis < 3; ++axis) {
        if (coordinate(p, axis) < coordinate_min) coordinate(p, axis) = 0;
      }
    }
    const bool wanted = an_edge_meets_a_triangle(mesh), got = crosses(mesh);
    EXPECT_TRUE(got || !wanted) << seed;
    (wanted ? found_count : clean) += 1;
    if (got && !wanted) {  // two triangles at one edge, folded upon each other
      const auto [s, t] = *search_in(mesh).pair;
      const auto& corners = mesh.triangles[s];
      const auto shared = std::count_if(corners.begin(), corners.end(), [&](std::uint32_t v) {
        return std::count(mesh.triangles[t].begin(), mesh.triangles[t].end(), v) > 0;
      });
      EXPECT_GE(shared, 2) << seed;
    }
  }
  EXPECT_GT(found_count, 60u);
  EXPECT_GT(clean, 60u);
}

/// How the ends of a cylinder are cut into triangles: around the centre, from one corner, or from side to side.
enum class cut : std::uint8_t { centre, corner, zigzag };

/// A cylinder of triangles that are ever thinner the more sides it has, askew to the axes.
surface_mesh cylinder(std::uint32_t sides, cut cut) {
  surface_mesh mesh;
  const point along{0.36, 0.48, 0.5}, u{0.4, -0.3, 0}, v{0.15, 0.2, -0.3};
  for (std::uint32_t k = 0; k < 2 * sides; ++k) {
    const double turn = 2 * std::numbers::pi * (k % sides) / sides;
    mesh.points.push_back(u * std::cos(turn) + v * std::sin(turn) + along * (k < sides ? 0 : 1));
  }
  mesh.points.push_back({0, 0, 0});
  mesh.points.push_back(along);
  const auto add_end = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const auto above = [&](std::uint32_t k) { return k == 2 * sides ? k + 1 : k + sides; };
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({above(a), above(c), above(b)});
  };
  for (std::uint32_t k = 0; k < sides; ++k) {
    const std::uint32_t next = (k + 1) % sides;
    mesh.triangles.push_back({k, next, next + sides});
    mesh.triangles.push_back({k, next + sides, k + sides});
    if (cut == cut::centre) add_end(2 * sides, next, k);
    if (cut == cut::corner && k > 0 && next > 0) add_end(0, next, k);
  }
  if (cut != cut::zigzag) return mesh;
  add_end(0, sides - 1, 1);
  for (std::uint32_t i = 1, j = sides - 1; i + 1 < j;) {
    if (i + j == sides) {
      add_end(i, j, i + 1);
      ++i;
    } else {
      add_end(i, j, j - 1);
      --j;
    }
  }
  return mesh;
}

class Thin : public testing::TestWithParam<cut> {};

TEST_P(Thin, triangles_are_all_looked_at) {
  surface_mesh mesh = cylinder(20'000, GetParam());
  const crossing_search clean = search_in(mesh);
  EXPECT_TRUE(clean.complete);
  EXPECT_FALSE(clean.pair);
  mesh.points[700] = mesh.points[704];  // behind some others
  mesh.points[700].x += 1e-7;
  EXPECT_TRUE(crosses(mesh));
}

TEST_P(Thin, triangles_answer_as_all_of_them_do) {
  const surface_mesh mesh = cylinder(500, GetParam());
  const triangle_tree tree = tree_of(mesh);
  nacre::rng random(1);
  for (int k = 0; k < 300; ++k) {
    const auto place = [&] { return point{random.uniform() - 0.2, random.uniform() - 0.2, random.uniform() - 0.4}; };
    const point p = place(), q = place();
    point nearest{1e9, 0, 0};
    bool met = false;
    int above = 0;
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
      const point position = nearest_on_triangle(p, mesh.corners(t));
      if (squared_length(p - position) < squared_length(p - nearest)) nearest = position;
      met = met || meets(p, q, mesh.corners(t));
      above += meets(p, p + point{0, 0, 10}, mesh.corners(t)) ? 1 : 0;
    }
    ASSERT_TRUE(tree.nearest(p, 10)) << k;
    EXPECT_NEAR(squared_length(p - *tree.nearest(p, 10)), squared_length(p - nearest), 1e-14) << k;
    EXPECT_EQ(tree.first_crossing(p, q).has_value(), met) << k;
    EXPECT_EQ(tree.inside(p), above % 2 == 1) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(ends, Thin, testing::Values(cut::centre, cut::corner, cut::zigzag), [](const auto& each) {
  return std::string(each.param == cut::centre ? "centre" : each.param == cut::corner ? "corner" : "zigzag");
});

}  // namespace
}  // namespace mesh3d
