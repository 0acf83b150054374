// SPDX-License-Identifier: Apache-2.0
// Euler numbers of surfaces whose handles are known.
#include "surface/euler_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "surface/polycube.hpp"
#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

using numbers = std::vector<std::int64_t>;

TEST(EulerNumbers, are_two_less_for_each_handle) {
  EXPECT_EQ(count_surface(polycube({"#"})).euler_numbers, numbers{2});
  EXPECT_EQ(count_surface(polycube({"###", "#.#", "###"})).euler_numbers, numbers{0});
  EXPECT_EQ(count_surface(polycube({"#####", "#.#.#", "#####"})).euler_numbers, numbers{-2});
  const surface_counts three = count_surface(polycube({"#######", "#.#.#.#", "#######"}));
  EXPECT_EQ(three.euler_numbers, numbers{-4});
  EXPECT_EQ(three.edges_not_of_two, 0u);
}

TEST(EulerNumbers, are_those_of_the_shapes) {
  for (const char* name : {"sphere", "ellipsoid", "block"}) {
    EXPECT_EQ(count_surface(*make_shape(name)).euler_numbers, numbers{2}) << name;
  }
  for (const char* name : {"torus", "knot"}) EXPECT_EQ(count_surface(*make_shape(name)).euler_numbers, numbers{0});
  for (const char* name : {"shell", "spheres"}) {
    EXPECT_EQ(count_surface(*make_shape(name)).euler_numbers, (numbers{2, 2})) << name;
  }
  EXPECT_EQ(count_surface(polycube({"###.#", "#.#..", "###.#"})).euler_numbers, (numbers{0, 2, 2}));
  EXPECT_EQ(count_surface({}).euler_numbers, numbers{});
}

TEST(EulerNumbers, show_edges_and_points_at_which_parts_touch) {
  const surface_counts at_edge = count_surface(polycube({"#.", ".#"}));
  EXPECT_EQ(at_edge.edges_not_of_two, 1u);
  EXPECT_EQ(at_edge.euler_numbers, numbers{3});  // of two balls, less two points and the edge between them
  surface_mesh at_point = polycube({"#"});
  const auto count = static_cast<std::uint32_t>(at_point.points.size());
  const surface_mesh other = at_point;
  for (const point& p : other.points) at_point.points.push_back(p + point{1, 1, 1});
  for (const auto& [a, b, c] : other.triangles) at_point.triangles.push_back({a + count, b + count, c + count});
  EXPECT_EQ(count_surface(at_point).euler_numbers, (numbers{2, 2}));
  std::vector<std::array<point, 3>> corners;
  for (std::size_t t = 0; t < at_point.triangles.size(); ++t) corners.push_back(at_point.corners(t));
  const surface_counts joined = count_surface(share_points(corners));
  EXPECT_EQ(joined.euler_numbers, numbers{3});
  EXPECT_EQ(joined.edges_not_of_two, 0u);
}

TEST(EulerNumbers, of_a_surface_with_a_hole_are_less_and_its_edges_are_counted) {
  surface_mesh open = polycube({"#"});
  open.triangles.pop_back();
  const surface_counts counts = count_surface(open);
  EXPECT_EQ(counts.euler_numbers, numbers{1});
  EXPECT_EQ(counts.edges_not_of_two, 3u);
}

TEST(SharedPoints, do_not_depend_on_the_order_of_triangles) {
  const surface_mesh torus = *make_shape("torus");
  std::vector<std::array<point, 3>> corners;
  for (std::size_t t = 0; t < torus.triangles.size(); ++t) corners.push_back(torus.corners(t));
  const surface_mesh shared = share_points(corners);
  EXPECT_EQ(shared.points.size(), torus.points.size());
  EXPECT_EQ(shared.triangles.size(), torus.triangles.size());
  EXPECT_EQ(count_surface(shared).euler_numbers, numbers{0});
  std::reverse(corners.begin(), corners.end());
  EXPECT_EQ(share_points(corners).triangles, shared.triangles);
  EXPECT_EQ(share_points(corners).points, shared.points);
}

}  // namespace
}  // namespace mesh3d
