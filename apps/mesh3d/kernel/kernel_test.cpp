// SPDX-License-Identifier: Apache-2.0
// Triangulations against brute force, refinement, and checks of meshes that are spoilt.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "kernel/check.hpp"
#include "kernel/delaunay.hpp"
#include "kernel/refiner.hpp"
#include "plan/hull_points.hpp"
#include "plan/plan.hpp"

namespace mesh3d {
namespace {

using corners = std::array<point, 4>;

corners corners_of(const triangulation& mesh, index t) {
  corners position;
  for (unsigned k = 0; k < 4; ++k) position[k] = mesh.at(mesh.tetrahedra[t].corner[k]);
  return position;
}

/// All tetrahedra by their sorted corners, so that numbers do not matter.
std::set<corners> set_of(const triangulation& mesh) {
  std::set<corners> all;
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    corners position = corners_of(mesh, t);
    std::sort(position.begin(), position.end());
    all.insert(position);
  }
  return all;
}

double volume_of(const triangulation& mesh) {
  double sum = 0;
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const auto [a, b, c, d] = corners_of(mesh, t);
    sum += orient(a, b, c, d) / 6;
  }
  return sum;
}

/// Every tetrahedron against every vertex.
void expect_delaunay(const triangulation& mesh) {
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const auto [a, b, c, d] = corners_of(mesh, t);
    ASSERT_GT(orient(a, b, c, d), 0);
    for (const point& p : mesh.vertices) {
      if (p == a || p == b || p == c || p == d) continue;
      ASSERT_LT(in_perturbed_sphere(a, b, c, d, p), 0);
    }
  }
  EXPECT_NEAR(volume_of(mesh), 1, 1e-12);
}

/// Points in general position, on a grid, on the surface of the box, or on a sphere around its centre.
std::vector<point> troubled_cloud(std::uint64_t seed, std::size_t count) {
  nacre::rng random(seed);
  const auto of_grid = [&](double steps) { return std::floor(random.uniform() * (steps + 1)) / steps; };
  constexpr std::array<std::array<double, 3>, 4> steps{{{3, 0, 0}, {1, 2, 2}, {2, 2, 1}, {2, 1, 2}}};
  std::vector<point> points;
  while (points.size() < count) {
    point p{random.uniform(), random.uniform(), random.uniform()};
    if (seed % 4 == 1) p = {of_grid(4), of_grid(4), of_grid(4)};
    if (seed % 4 == 2) (points.size() % 2 == 0 ? p.x : p.z) = points.size() % 3 == 0 ? 1.0 : 0.0;
    if (seed % 4 == 3) {
      const auto& step = steps[random.below(steps.size())];
      const auto part = [&](unsigned k) { return 0.5 + (random.below(2) == 0 ? step[k] : -step[k]) / 8; };
      p = {part(0), part(1), part(2)};
    }
    points.push_back(p);
  }
  return points;
}

TEST(Delaunay, spheres_hold_no_other_point) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    expect_delaunay(triangulate({0, 0, 0}, {1, 1, 1}, troubled_cloud(seed, 70)));
  }
}

TEST(Delaunay, points_have_one_triangulation_in_whichever_order_they_come) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::vector<point> points = troubled_cloud(seed, 90);
    const triangulation sorted = triangulate({0, 0, 0}, {1, 1, 1}, points);
    triangulation mesh = triangulate_box({0, 0, 0}, {1, 1, 1});
    cavity hole;
    index last = 0;
    for (const point& p : points) {
      last = mesh.find(p, last);
      const corners corners = corners_of(mesh, last);
      if (std::find(corners.begin(), corners.end(), p) != corners.end()) continue;
      hole.collect(mesh, p, last);
      hole.fill(mesh, p);
      last = hole.filled().back();
    }
    EXPECT_GT(mesh.vertices.size(), 30u);
    EXPECT_EQ(set_of(mesh), set_of(sorted)) << seed;
  }
}

TEST(Delaunay, a_box_of_any_shape_is_divided) {
  const triangulation mesh = triangulate_box({-1, 2, 0.5}, {0.25, 2.5, 4});
  EXPECT_EQ(mesh.count(), 6u);
  for (index t = 0; t < 6; ++t) {
    const auto [a, b, c, d] = corners_of(mesh, t);
    EXPECT_GT(orient(a, b, c, d), 0);
    for (const point& p : mesh.vertices) {
      if (p == a || p == b || p == c || p == d) continue;
      EXPECT_LT(in_perturbed_sphere(a, b, c, d, p), 0);
    }
  }
}

struct refined_leaf {
  leaf_plan leaf{};
  quality_rule rule{};
  triangulation mesh{};
};

refined_leaf refine_leaf(std::size_t index, double ratio = 2) {
  options asked{.size = 0.08, .ratio_max = ratio, .sources = {{{0.3, 0.2, 0.4}, 0.015, 0.15}}, .subdomains = 20};
  const plan plan = make_plan(asked);
  refined_leaf result{.leaf = plan.leaves.at(index % plan.leaves.size()), .rule = plan.rule};
  const point low = to_point(result.leaf.box.low);
  const double side = to_length(result.leaf.box.size);
  result.mesh = triangulate(low, low + point{side, side, side}, hull_points(result.leaf, result.rule.size));
  return result;
}

void refine(refined_leaf& refined_leaf, std::size_t slice = 100) {
  refine_state state;
  refiner work(refined_leaf.mesh, refined_leaf.rule);
  while (!work.refine(state, slice)) {
  }
}

TEST(Refiner, makes_leaves_that_pass_their_check_and_keep_their_hull) {
  std::uint64_t inserted = 0;
  for (std::size_t index = 0; index < 12; ++index) {
    refined_leaf refined_leaf = refine_leaf(index, index % 2 == 0 ? 2 : 1.3);
    const auto hull = hull_triangles(refined_leaf.mesh, refined_leaf.leaf);
    const std::size_t previous = refined_leaf.mesh.vertices.size();
    refine(refined_leaf);
    EXPECT_EQ(hull_triangles(refined_leaf.mesh, refined_leaf.leaf), hull);
    inserted += refined_leaf.mesh.vertices.size() - previous;
    const findings findings = check_leaf(refined_leaf.mesh, refined_leaf.leaf, refined_leaf.rule);
    EXPECT_EQ(findings.faults, 0u) << (findings.fault_texts.empty() ? "" : findings.fault_texts.front());
    EXPECT_LT(findings.refused, findings.tetrahedra / 3);
    EXPECT_NEAR(findings.volume, std::pow(to_length(refined_leaf.leaf.box.size), 3), 1e-12);
  }
  EXPECT_GT(inserted, 1000u);
}

TEST(Refiner, slices_change_nothing) {
  refined_leaf whole = refine_leaf(3), sliced = whole;
  refine(whole, 1'000'000);
  refine(sliced, 3);
  EXPECT_EQ(whole.mesh.vertices, sliced.mesh.vertices);
  EXPECT_EQ(set_of(whole.mesh), set_of(sliced.mesh));
}

std::uint64_t faults_after(const refined_leaf& good, void (*spoil)(refined_leaf&)) {
  refined_leaf bad = good;
  spoil(bad);
  return check_leaf(bad.mesh, bad.leaf, bad.rule).faults;
}

index first_in_use(const triangulation& mesh) {
  index t = 0;
  while (!mesh.in_use(t)) ++t;
  return t;
}

/// Takes the neighbours' word for it that a tetrahedron at the hull, which is returned, is not there.
index open_at_hull(triangulation& mesh) {
  index t = 0;
  const auto at_hull = [&] {
    const auto& twin = mesh.tetrahedra[t].twin;
    return mesh.in_use(t) && std::find(twin.begin(), twin.end(), none) != twin.end();
  };
  while (!at_hull()) ++t;
  for (const facet twin : mesh.tetrahedra[t].twin) {
    if (twin != none) mesh.tetrahedra[tetrahedron_of(twin)].twin[twin & 3] = none;
  }
  return t;
}

TEST(Check, finds_a_vertex_in_the_sphere_of_a_facet_of_the_hull) {
  refined_leaf refined_leaf = refine_leaf(5);
  refine(refined_leaf);
  cavity hole;
  const facet at_hull = [&] {
    for (facet f = 0;; ++f) {
      if (refined_leaf.mesh.in_use(tetrahedron_of(f)) && refined_leaf.mesh.twin(f) == none) return f;
    }
  }();
  const corners corners = corners_of(refined_leaf.mesh, tetrahedron_of(at_hull));
  const point apex = corners[at_hull & 3],
              middle = (corners[0] + corners[1] + corners[2] + corners[3] - apex) * (1.0 / 3);
  const point near = middle + (apex - middle) * 0.1;
  hole.collect(refined_leaf.mesh, near, tetrahedron_of(at_hull));
  hole.fill(refined_leaf.mesh, near);
  const findings findings = check_leaf(refined_leaf.mesh, refined_leaf.leaf, refined_leaf.rule);
  EXPECT_GT(findings.faults, 0u);
  EXPECT_NE(findings.fault_texts.at(0).find("too near"), std::string::npos);
}

TEST(Check, finds_what_is_spoilt) {
  refined_leaf good = refine_leaf(5);
  EXPECT_GT(check_leaf(good.mesh, good.leaf, good.rule).faults, 0u) << "is not refined yet";
  refine(good);
  ASSERT_EQ(check_leaf(good.mesh, good.leaf, good.rule).faults, 0u);
  EXPECT_GT(faults_after(good, [](refined_leaf& spoilt) { spoilt.mesh.vertices.back().x += 0.02; }), 0u)
      << "not Delaunay";
  EXPECT_GT(faults_after(good,
                         [](refined_leaf& spoilt) {
                           auto& t = spoilt.mesh.tetrahedra[first_in_use(spoilt.mesh)];
                           std::swap(t.corner[0], t.corner[1]);
                         }),
            0u)
      << "no positive volume";
  refined_leaf holed = good;
  holed.mesh.tetrahedra[open_at_hull(holed.mesh)] = {};
  const findings hole = check_leaf(holed.mesh, holed.leaf, holed.rule);
  const auto tells = [&](const char* name) {
    return std::any_of(hole.fault_texts.begin(), hole.fault_texts.end(),
                       [&](const std::string& text) { return text.find(name) != std::string::npos; });
  };
  EXPECT_TRUE(tells("is not covered"));
  EXPECT_TRUE(tells("lie in no face"));
  EXPECT_GT(faults_after(good,
                         [](refined_leaf& spoilt) {  // a vertex slides within its face, as one side alone would see it
                           for (point& p : spoilt.mesh.vertices) {
                             const point low = to_point(spoilt.leaf.box.low);
                             if (p.x == low.x && p.y > low.y && p.z > low.z) p.y = low.y;
                           }
                         }),
            0u)
      << "a face that is not covered";
  EXPECT_GT(faults_after(good, [](refined_leaf& spoilt) { spoilt.rule.size = spoilt.rule.size.scaled(0.5); }), 0u)
      << "too large";
  EXPECT_GT(faults_after(good,
                         [](refined_leaf& spoilt) {
                           spoilt.leaf.faces[0].neighbour =
                               spoilt.leaf.faces[0].neighbour == cube_face::nobody ? 0 : cube_face::nobody;
                         }),
            0u)
      << "a lost neighbour";
}

}  // namespace
}  // namespace mesh3d
