// SPDX-License-Identifier: Apache-2.0
// The capture of a surface by one subdomain, and checks of sides that are spoilt.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/delaunay.hpp"
#include "kernel/refiner.hpp"
#include "kernel/surface_check.hpp"
#include "plan/hull_points.hpp"
#include "plan/plan.hpp"

namespace mesh3d {
namespace {

struct captured {
  plan mesh_plan{};
  leaf_plan leaf{};
  triangulation mesh{};
  side_list inner{};
};

captured capture(const options& asked, std::size_t number) {
  captured subject{.mesh_plan = make_plan(asked)};
  subject.leaf = subject.mesh_plan.leaves.at(number % subject.mesh_plan.leaves.size());
  const point low = to_point(subject.leaf.box.low);
  const double side = to_length(subject.leaf.box.size);
  subject.mesh =
      triangulate(low, low + point{side, side, side}, hull_points(subject.leaf, subject.mesh_plan.rule.size));
  refine_state state;
  refiner work(subject.mesh, subject.mesh_plan.rule);
  while (!work.refine(state, 200)) {
  }
  for (index t = 0; t < subject.mesh.tetrahedra.size(); ++t) {
    subject.inner.push_back(subject.mesh_plan.surface != nullptr && subject.mesh.in_use(t) && work.is_inside(t) ? 1
                                                                                                                : 0);
  }
  return subject;
}

const options sphere{.input = "sphere", .size = 0.08, .subdomains = 8};

findings checked(captured& captured) {
  findings match = check_leaf(captured.mesh, captured.leaf, captured.mesh_plan.rule);
  std::vector<std::array<point, 3>> boundary;
  check_sides(captured.mesh, captured.mesh_plan.rule, captured.inner, {}, match, boundary);
  EXPECT_EQ(boundary.size(), match.surface.triangles);
  return match;
}

TEST(Capture, puts_the_corners_between_both_sides_on_the_surface) {
  for (std::size_t index = 0; index < 8; ++index) {
    captured captured = capture(sphere, index);
    const findings findings = checked(captured);
    EXPECT_EQ(findings.faults, 0u) << (findings.fault_texts.empty() ? "" : findings.fault_texts.front());
    EXPECT_GT(findings.surface.triangles, 100u);
    EXPECT_LE(findings.surface.corners_off, findings.surface.corners / 50);
    EXPECT_LT(findings.surface.to_surface.by_length, 0.6);
    // An eighth of the sphere whose radius is 0.4.
    EXPECT_NEAR(findings.surface.inner_volume, 4.18879 * 0.064 / 8, 0.0008);
    EXPECT_NEAR(findings.surface.area, 12.56637 * 0.16 / 8, 0.006);
  }
}

TEST(Capture, triangles_between_both_sides_are_as_small_as_asked_for) {
  captured captured = capture(sphere, 3);
  const refiner look(captured.mesh, captured.mesh_plan.rule);
  std::size_t seen = 0, without = 0;
  for (index t = 0; t < captured.mesh.tetrahedra.size(); ++t) {
    for (unsigned k = 0; k < 4 && captured.inner[t] != 0; ++k) {
      const facet f = facet_of(t, k), twin = captured.mesh.twin(f);
      if (twin == none || captured.inner[tetrahedron_of(twin)] != 0) continue;
      const auto at = look.on_surface_for(f);
      ++seen;
      if (!at) {  // a tetrahedron whose sphere has its centre outside of the box, and that is told apart by another one
        ++without;
        continue;
      }
      EXPECT_LE(std::sqrt(squared_length(*at - captured.mesh.at(captured.mesh.corners(f)[0]))), 0.08 * 0.75);
    }
  }
  EXPECT_GT(seen, 100u);
  EXPECT_LT(without, seen / 20);
}

/// Dihedral angles below 10 degrees.
std::uint64_t small_angles(const triangulation& mesh) {
  angle_histogram angles{};
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const auto& [a, b, c, d] = mesh.tetrahedra[t].corner;
    add_angles({mesh.at(a), mesh.at(b), mesh.at(c), mesh.at(d)}, angles);
  }
  return angles[0] + angles[1];
}

TEST(Slivers, become_fewer_and_the_mesh_stays_as_good_otherwise) {
  for (const char* input : {"", "sphere"}) {
    captured subject = capture({.input = input, .size = 0.05, .sliver_degrees = 10, .subdomains = 8}, 1);
    const std::uint64_t previous = small_angles(subject.mesh);
    const std::size_t vertices = subject.mesh.vertices.size();
    const auto hull = hull_triangles(subject.mesh, subject.leaf);
    captured other = subject;
    for (auto& [each, slice] : {std::pair<captured&, std::size_t>{subject, 3}, {other, 1000}}) {
      refine_state state;
      refiner work(each.mesh, each.mesh_plan.rule, refiner::pass::slivers);
      while (!work.refine(state, slice)) {
      }
    }
    EXPECT_EQ(subject.mesh.vertices, other.mesh.vertices);  // slices change nothing
    EXPECT_LT(small_angles(subject.mesh), previous * 2 / 3) << input;
    EXPECT_GT(subject.mesh.vertices.size(), vertices);
    EXPECT_LT(subject.mesh.vertices.size(), vertices * 6 / 5);
    EXPECT_EQ(hull_triangles(subject.mesh, subject.leaf), hull);
    EXPECT_EQ(check_leaf(subject.mesh, subject.leaf, subject.mesh_plan.rule).faults, 0u);
    subject.mesh_plan.rule.sliver_degrees = 14;
    EXPECT_GT(check_leaf(subject.mesh, subject.leaf, subject.mesh_plan.rule).faults, 0u) << "more could be split";
  }
}

std::uint64_t faults_after(const captured& good, void (*spoil)(captured&)) {
  captured bad = good;
  spoil(bad);
  return checked(bad).faults;
}

TEST(Capture, the_check_finds_sides_and_corners_that_are_spoilt) {
  captured good = capture(sphere, 2);
  ASSERT_EQ(checked(good).faults, 0u);
  EXPECT_GT(faults_after(good,
                         [](captured& spoilt) {
                           index t = 0;
                           while (!spoilt.mesh.in_use(t) || spoilt.inner[t] == 0) ++t;
                           spoilt.inner[t] = 0;
                         }),
            0u)
      << "a hole";
  EXPECT_GT(faults_after(good, [](captured& spoilt) { spoilt.inner.pop_back(); }), 0u) << "a side is missing";
  EXPECT_GT(faults_after(good,
                         [](captured& spoilt) {  // another surface than that which the mesh has
                           spoilt.mesh_plan = make_plan({.input = "block", .size = 0.08, .subdomains = 8});
                         }),
            0u);
  captured coarse = good;
  coarse.mesh_plan.rule.size = coarse.mesh_plan.rule.size.scaled(0.7);
  EXPECT_GT(checked(coarse).faults, 0u) << "too large";
}

}  // namespace
}  // namespace mesh3d
