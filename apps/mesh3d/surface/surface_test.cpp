// SPDX-License-Identifier: Apache-2.0
// Which surfaces can be meshed, and what is known of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

#include "surface/curvature.hpp"
#include "surface/placed_surface.hpp"
#include "surface/shapes.hpp"
#include "surface/topology.hpp"

namespace mesh3d {
namespace {

constexpr double pi = 3.14159265358979323846;

const surface_mesh block = *make_shape("block");

surface_mesh together(surface_mesh a, const surface_mesh& b, const point& shift) {
  const auto first = static_cast<std::uint32_t>(a.points.size());
  for (const point& p : b.points) a.points.push_back(p + shift);
  for (const auto& c : b.triangles) a.triangles.push_back({c[0] + first, c[1] + first, c[2] + first});
  return a;
}

std::string refusal(const surface_mesh& mesh) {
  try {
    place_surface(mesh, {}, "it");
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const surface_mesh& mesh, const std::string& said) {
  const std::string got = refusal(mesh);
  EXPECT_NE(got.find(said), std::string::npos) << got;
}

TEST(PlacedSurface, fills_the_cube_but_for_its_margin) {
  for (const char* name : {"sphere", "ellipsoid", "torus", "knot", "shell", "spheres", "block"}) {
    SCOPED_TRACE(name);
    const placed_surface placed = place_surface(*make_shape(name), {.margin = 0.2}, name);
    EXPECT_TRUE(placed.notes.empty());
    const auto [low, high] = bounds_of(placed.mesh);
    EXPECT_NEAR(std::min({low.x, low.y, low.z}), 0.2, 1e-12);
    EXPECT_NEAR(std::max({high.x, high.y, high.z}), 0.8, 1e-12);
    const point back = placed.place.out_of_cube(placed.mesh.points[3]);
    EXPECT_NEAR(squared_length(placed.place.into_cube(back) - placed.mesh.points[3]), 0, 1e-24);
    EXPECT_EQ(placed.components, std::string(name) == "shell" || std::string(name) == "spheres" ? 2u : 1u);
  }
}

TEST(PlacedSurface, knows_its_volume_also_where_one_part_is_in_another) {
  const auto volume = [](const char* name) {
    const placed_surface placed = place_surface(*make_shape(name), {}, name);
    return placed.volume / std::pow(placed.place.scale, 3);
  };
  EXPECT_NEAR(volume("sphere"), 4 * pi / 3, 0.003);
  EXPECT_NEAR(volume("shell"), 4 * pi / 3 * 0.875, 0.003);
  EXPECT_NEAR(volume("spheres"), 4 * pi / 3 * 1.125, 0.004);
  EXPECT_NEAR(volume("torus"), 2 * pi * pi * 0.16, 0.01);
  EXPECT_NEAR(volume("block"), 0.48, 1e-12);
}

TEST(PlacedSurface, mends_what_is_harmless_and_says_so) {
  surface_mesh mesh = block;
  mesh.points.push_back(mesh.points[0]);  // a seam
  mesh.triangles[0][0] = 8;
  std::swap(mesh.triangles[5][0], mesh.triangles[5][1]);
  mesh.triangles.push_back({1, 1, 2});
  mesh.points.push_back({99, 99, 99});  // of no triangle
  const placed_surface placed = place_surface(mesh, {}, "it");
  EXPECT_EQ(placed.mesh.points.size(), 8u);
  EXPECT_EQ(placed.mesh.triangles.size(), 12u);
  EXPECT_EQ(placed.notes, (std::vector<std::string>{"1 points were at the place of another one",
                                                    "1 triangles had a corner twice", "1 triangles faced inwards"}));
  for (auto& corner : mesh.triangles) std::swap(corner[0], corner[1]);
  EXPECT_NEAR(place_surface(mesh, {}, "it").volume, placed.volume, 1e-15);
}

TEST(PlacedSurface, is_refused_with_the_place_of_its_defect) {
  expect_refused({}, "it has no faces");
  surface_mesh open = block;
  open.triangles.pop_back();
  open.lines.assign(open.triangles.size(), 7);
  expect_refused(open, "of the face at line 7 has no other triangle (the surface is open there");
  surface_mesh sheets = block;
  sheets.points.push_back({0.5, 0.4, 3});
  sheets.triangles.push_back({4, 7, 8});
  sheets.triangles.push_back({4, 8, 7});
  expect_refused(sheets, "the edge from (0, 0, 0.6) to (1, 0.8, 0.6)");
  expect_refused(sheets, "has 4 triangles (a surface has two at each edge)");
  surface_mesh flat = block;
  for (point& p : flat.points) p.z = 0;
  EXPECT_NE(refusal(flat), "");
  surface_mesh dot = block;
  for (point& p : dot.points) p = {5, 5, 5};
  expect_refused(dot, "it: all points are at one place");
  expect_refused(together(block, block, {0.3, 0.3, 0.3}), "meet near (");
  EXPECT_EQ(refusal(together(block, block, {1.5, 0, 0})), "");
}

TEST(PlacedSurface, whose_parts_touch_at_a_point_is_refused) {
  const auto [low, high] = bounds_of(block);
  expect_refused(together(block, block, high - low), "two parts of the surface touch at");
}

TEST(PlacedSurface, with_one_side_only_is_refused) {
  surface_mesh mesh;  // a Klein bottle: a torus of 6 by 6 squares, one seam of which is turned over
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      const double u = i * pi / 3, v = j * pi / 3;
      mesh.points.push_back({(2 + std::cos(v)) * std::cos(u), (2 + std::cos(v)) * std::sin(u), std::sin(v)});
    }
  }
  const auto function = [](std::uint32_t i, std::uint32_t j) { return i < 6 ? i * 6 + j % 6 : (6 - j % 6) % 6; };
  for (std::uint32_t i = 0; i < 6; ++i) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      mesh.triangles.push_back({function(i, j), function(i + 1, j), function(i + 1, j + 1)});
      mesh.triangles.push_back({function(i, j), function(i + 1, j + 1), function(i, j + 1)});
    }
  }
  expect_refused(mesh, "it: the surface has one side only");
}

TEST(PlacedSurface, with_a_triangle_of_no_area_is_refused_or_sound) {
  surface_mesh mesh = block;  // the edge from 0 to 1 gets a point in its middle on one side, and a flat triangle
  mesh.points.push_back((mesh.points[0] + mesh.points[1]) * 0.5);
  std::vector<surface_mesh::triangle> triangles;
  bool split = false;
  for (const auto& [a, b, c] : mesh.triangles) {
    const surface_mesh::triangle turned[3] = {{a, b, c}, {b, c, a}, {c, a, b}};
    bool done = false;
    for (const auto& each : turned) {
      if (each[0] != 0 || each[1] != 1 || split) continue;
      triangles.push_back({0, 8, each[2]});
      triangles.push_back({8, 1, each[2]});
      triangles.push_back({0, 1, 8});
      split = done = true;
    }
    if (!done) triangles.push_back({a, b, c});
  }
  ASSERT_TRUE(split);
  mesh.triangles = triangles;
  mesh.lines.assign(mesh.triangles.size(), 12);
  const std::string said = refusal(mesh);  // by rounding it may keep an area
  if (!said.empty()) {
    EXPECT_NE(said.find("meet near"), std::string::npos) << said;
    return;
  }
  const placed_surface placed = place_surface(mesh, {}, "it");
  EXPECT_NEAR(placed.volume / std::pow(placed.place.scale, 3), 0.48, 1e-12);
}

/// The winding number by solid angles (Van Oosterom and Strackee 1983), over all triangles.
double winding(const surface_mesh& mesh, const point& p) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [x, y, z] = mesh.corners(t);
    const point a = x - p, b = y - p, c = z - p;
    const double la = std::sqrt(squared_length(a)), lb = std::sqrt(squared_length(b)),
                 lc = std::sqrt(squared_length(c));
    sum += 2 * std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return sum / (4 * pi);
}

TEST(TriangleTree, tells_inside_from_outside_as_solid_angles_do) {
  nacre::rng random(5);
  for (const char* name : {"knot", "shell", "block"}) {
    const surface_in_cube known{place_surface(*make_shape(name), {}, name)};
    std::size_t in = 0;
    for (int k = 0; k < 60; ++k) {
      const point p{random.uniform(), random.uniform(), random.uniform()};
      const bool odd = std::lround(winding(known.of().mesh, p)) % 2 != 0;  // all components face outwards
      ASSERT_EQ(known.tree().inside(p), odd) << name << ' ' << p.x << ' ' << p.y << ' ' << p.z;
      in += odd ? 1 : 0;
    }
    EXPECT_GT(in, 0u) << name;
  }
}

TEST(TriangleTree, rays_through_edges_and_corners_count_once) {
  surface_mesh upright = block;  // with its faces along the axes
  for (point& p : upright.points) p = p * 0.5 + point{0.25, 0.25, 0.25};
  const triangle_tree tree(upright, std::vector<double>(12));
  const auto [low, high] = bounds_of(upright);
  const point middle = (low + high) * 0.5;
  for (int i = -4; i <= 4; ++i) {
    for (int j = -4; j <= 4; ++j) {  // the diagonals and the sides of both horizontal faces are among these places
      const point step{(high.x - low.x) / 6 * i, (high.y - low.y) / 6 * j, 0};
      const bool is_within = std::abs(i) < 3 && std::abs(j) < 3;
      const bool at_side = !is_within && std::abs(i) <= 3 && std::abs(j) <= 3;
      const point p = middle + step;
      if (!at_side) {
        EXPECT_EQ(tree.inside(p), is_within) << i << ' ' << j;
      }
      EXPECT_FALSE(tree.inside({p.x, p.y, low.z - 0.01})) << i << ' ' << j;
    }
  }
}

TEST(TriangleTree, finds_the_nearest_point_and_the_first_crossing_as_brute_force_does) {
  const surface_in_cube known{place_surface(*make_shape("torus"), {}, "torus")};
  const surface_mesh& mesh = known.of().mesh;
  nacre::rng random(6);
  const auto anywhere = [&] { return point{random.uniform(), random.uniform(), random.uniform()}; };
  std::size_t crossings = 0;
  for (int k = 0; k < 60; ++k) {
    const point p = anywhere(), q = anywhere();
    double least = 10, first = 2;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      least = std::min(least, squared_length(p - nearest_on_triangle(p, mesh.corners(t))));
      if (!meets(p, q, mesh.corners(t))) continue;
      const auto [a, b, c] = mesh.corners(t);
      const point normal = cross(b - a, c - a);
      first = std::min(first, dot(a - p, normal) / dot(q - p, normal));
    }
    const double distance = std::sqrt(least);
    ASSERT_TRUE(known.tree().nearest(p, distance * 1.001));
    EXPECT_NEAR(std::sqrt(squared_length(p - *known.tree().nearest(p, 2))), distance, 1e-12);
    EXPECT_FALSE(known.tree().nearest(p, distance * 0.999));
    const auto crossing = known.tree().first_crossing(p, q);
    ASSERT_EQ(crossing.has_value(), first <= 1);
    if (crossing) {
      EXPECT_NEAR(std::sqrt(squared_length(*crossing - (p + (q - p) * first))), 0, 1e-9);
      EXPECT_TRUE(known.tree().nearest(*crossing, 1e-12));
      ++crossings;
    }
  }
  EXPECT_GT(crossings, 10u);
}

TEST(TriangleTree, lengths_are_nearly_those_of_all_triangles) {
  const surface_in_cube known{place_surface(*make_shape("ellipsoid"), {.length_max = 0.2}, "ellipsoid")};
  const placed_surface& placed_surface = known.of();
  EXPECT_LT(*std::min_element(placed_surface.lengths.begin(), placed_surface.lengths.end()),
            0.5 * *std::max_element(placed_surface.lengths.begin(), placed_surface.lengths.end()));
  nacre::rng random(7);
  for (int k = 0; k < 40; ++k) {
    const point p{random.uniform(), random.uniform(), random.uniform()};
    double least = 0.2;
    for (std::size_t t = 0; t < placed_surface.mesh.triangles.size(); ++t) {
      const double distance = std::sqrt(squared_length(p - nearest_on_triangle(p, placed_surface.mesh.corners(t))));
      least = std::min(least, 1.5 * placed_surface.lengths[t] + 0.3 * distance);
    }
    const double got = known.tree().length_near(p, 1.5, 0.3, 0.2);
    EXPECT_GE(got, least * 0.79);
    EXPECT_LE(got, least * 1.26);
  }
}

TEST(TriangleTree, meets_is_exact_at_corners_and_edges) {
  const std::array<point, 3> triangle{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  EXPECT_TRUE(meets({0, 0, -1}, {0, 0, 1}, triangle));
  EXPECT_TRUE(meets({0.5, 0.5, -1}, {0.5, 0.5, 0}, triangle));
  EXPECT_FALSE(meets({0.5, 0.5 + 1e-15, -1}, {0.5, 0.5 + 1e-15, 1}, triangle));
  EXPECT_FALSE(meets({0.2, 0.2, 1e-300}, {0.2, 0.2, 1}, triangle));
  EXPECT_FALSE(meets({-1, 0.2, 0}, {1, 0.2, 0}, triangle));  // in its plane
}

TEST(Curvature, is_that_of_spheres_and_tubes) {
  surface_mesh sphere = *make_shape("sphere");
  for (point& p : sphere.points) p = p * 0.25;
  const surface_names names{"it", [](const point& p) { return p; }};
  const auto edges = orient_surface(sphere, names).edges;
  EXPECT_EQ(edges.size(), sphere.triangles.size() * 3 / 2);
  std::vector<double> values = curvatures(sphere, edges);
  std::sort(values.begin(), values.end());
  EXPECT_NEAR(values[values.size() / 2], 4 * std::sqrt(2.0), 0.3);
  EXPECT_GT(values.front(), 4.5);
  EXPECT_LT(values.back(), 9);
  surface_mesh cube = block;
  for (const double each : curvatures(cube, orient_surface(cube, names).edges)) EXPECT_LT(each, 1e-9);  // creases only
}

}  // namespace
}  // namespace mesh3d
