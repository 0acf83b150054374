// SPDX-License-Identifier: Apache-2.0
// mesh2d --no-refine and CGAL make one triangulation, but for points on one circle. Only tests use CGAL (GPL).
#include <CGAL/Constrained_Delaunay_triangulation_2.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Triangulation_face_base_with_info_2.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cloud_input.hpp"
#include "kernel/troubled_input.hpp"
#include "plain_triangulation.hpp"

namespace mesh2d::tests {
namespace {

using cgal_kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using face_base = CGAL::Constrained_triangulation_face_base_2<
    cgal_kernel, CGAL::Triangulation_face_base_with_info_2<bool, cgal_kernel>>;  // whether the face is outside
using structure = CGAL::Triangulation_data_structure_2<CGAL::Triangulation_vertex_base_2<cgal_kernel>, face_base>;
using oracle = CGAL::Constrained_Delaunay_triangulation_2<cgal_kernel, structure,
                                                          CGAL::No_constraint_intersection_requiring_constructions_tag>;
using place = std::pair<double, double>;
using edges = std::map<std::pair<place, place>, std::vector<place>>;  // the vertices opposite to each

place place_of(const point& point) { return {point.x, point.y}; }
place place_of(const oracle::Point& position) { return {position.x(), position.y()}; }
oracle::Point to_cgal(const point& point) { return {point.x, point.y}; }
oracle::Point to_cgal(const place& position) { return {position.first, position.second}; }

void add_triangle(edges& edge_list, const std::array<place, 3>& corners) {
  for (std::size_t k = 0; k < 3; ++k) {
    const place &a = corners[(k + 1) % 3], &b = corners[(k + 2) % 3];
    edge_list[{std::min(a, b), std::max(a, b)}].push_back(corners[k]);
  }
}

edges edges_of(const plain_triangulation& plain_triangulation) {
  edges all;
  for (const auto& [a, b, c] : plain_triangulation.triangles)
    add_triangle(all, {place_of(a), place_of(b), place_of(c)});
  return all;
}

void mark_outside(const oracle& expected, oracle::Face_handle begin) {
  std::vector<oracle::Face_handle> stack{begin};
  begin->info() = true;
  while (!stack.empty()) {
    const oracle::Face_handle face = stack.back();
    stack.pop_back();
    for (int k = 0; k < 3; ++k) {
      const oracle::Face_handle other = face->neighbor(k);
      if (other->info() || expected.is_constrained({face, k})) continue;
      other->info() = true;
      stack.push_back(other);
    }
  }
}

/// What CGAL makes of the input; with the sides of mesh2d where those do not lie on the lines of segments.
edges edges_by_cgal(const pslg& input, const plain_triangulation& mine) {
  oracle expected;
  for (const point& each : mine.placed) expected.insert(to_cgal(each));
  if (mine.bent.empty()) {
    for (const auto& each : input.segments) {
      const point &begin = mine.placed[each.begin], &end = mine.placed[each.end];
      if (begin != end) expected.insert_constraint(to_cgal(begin), to_cgal(end));
    }
  } else {
    for (const auto& [begin, end] : mine.constrained) expected.insert_constraint(to_cgal(begin), to_cgal(end));
  }
  for (auto face = expected.all_faces_begin(); face != expected.all_faces_end(); ++face) face->info() = false;
  mark_outside(expected, expected.infinite_face());
  for (const auto& each : input.holes) mark_outside(expected, expected.locate(to_cgal(each.position)));
  edges all;
  for (auto face = expected.finite_faces_begin(); face != expected.finite_faces_end(); ++face) {
    if (face->info()) continue;
    add_triangle(all, {place_of(face->vertex(0)->point()), place_of(face->vertex(1)->point()),
                       place_of(face->vertex(2)->point())});
  }
  return all;
}

/// The edges that only one of the two has, and that are no diagonals of four points on one circle.
std::size_t differences(const edges& mine, const edges& theirs) {
  std::size_t count = 0;
  for (const auto& [first, other] : {std::pair(&mine, &theirs), std::pair(&theirs, &mine)}) {
    for (const auto& [ends, apexes] : *first) {
      if (other->contains(ends)) continue;
      const bool on_circle = apexes.size() == 2 && CGAL::side_of_oriented_circle(
                                                       to_cgal(ends.first), to_cgal(ends.second), to_cgal(apexes[0]),
                                                       to_cgal(apexes[1])) == CGAL::ON_ORIENTED_BOUNDARY;
      count += on_circle ? 0 : 1;
    }
  }
  return count;
}

struct tally {
  std::uint64_t compared = 0, by_segments = 0, refused = 0, ties = 0;
};

void compare(const pslg& input, std::uint64_t seed, tally& so_far) {
  const auto mine = triangulate_plainly(input);
  if (!mine) return void(++so_far.refused);
  const edges edge_list = edges_of(*mine), theirs = edges_by_cgal(input, *mine);
  ++so_far.compared;
  so_far.by_segments += mine->bent.empty();
  so_far.ties += edge_list != theirs;
  EXPECT_EQ(edge_list.size(), theirs.size()) << input.source << " " << seed;
  EXPECT_EQ(differences(edge_list, theirs), 0u) << input.source << " " << seed;
}

std::uint64_t seeds() {
  const char* const asked = std::getenv("NACRE_ORACLE_SEEDS");
  return asked == nullptr ? 400 : std::strtoull(asked, nullptr, 10);
}

TEST(Cgal, makes_the_same_triangulation_of_clouds_of_points_and_segments) {
  tally all;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) compare(cloud_input::make(seed), seed, all);
  EXPECT_GT(all.compared, seeds() / 2);  // many holes leave no area
  EXPECT_GT(all.by_segments, all.compared * 9 / 10);
  EXPECT_GT(all.ties, seeds() / 10);  // there are many points on one circle
}

TEST(Cgal, makes_the_same_triangulation_of_troubled_inputs) {
  tally all;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) compare(troubled_input::make(seed), seed, all);
  EXPECT_GT(all.compared, seeds() / 3);
  EXPECT_GT(all.by_segments, seeds() / 3);
}

TEST(Cgal, a_flipped_edge_is_a_difference) {
  const edges square = [] {
    edges all;
    add_triangle(all, {place{0, 0}, place{4, 0}, place{3, 3}});
    add_triangle(all, {place{0, 0}, place{3, 3}, place{0, 4}});
    return all;
  }();
  edges flipped;
  add_triangle(flipped, {place{0, 0}, place{4, 0}, place{0, 4}});
  add_triangle(flipped, {place{4, 0}, place{3, 3}, place{0, 4}});
  EXPECT_EQ(differences(square, square), 0u);
  EXPECT_EQ(differences(square, flipped), 2u);
}

}  // namespace
}  // namespace mesh2d::tests
