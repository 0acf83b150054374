// SPDX-License-Identifier: Apache-2.0
// Triangulation and refinement on one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "geometry/predicates.hpp"
#include "input/shapes.hpp"
#include "kernel/delaunay.hpp"
#include "kernel/mesh_for_tests.hpp"
#include "kernel/troubled_input.hpp"

namespace mesh2d {
namespace {

std::string faults_text(const findings& findings) {
  std::string text;
  for (const std::string& each : findings.fault_texts) text += each + "\n";
  return text;
}

std::string refusal(const pslg& input) {
  try {
    static_cast<void>(make_domain(input));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

pslg polygon(const std::vector<point>& corners) {
  pslg input{.source = "test"};
  for (std::uint32_t k = 0; k < corners.size(); ++k) {
    input.points.push_back({.position = corners[k], .line = k + 2, .name = k + 1});
    input.segments.push_back(
        {.begin = k, .end = (k + 1) % static_cast<std::uint32_t>(corners.size()), .line = k + 20, .name = k + 1});
  }
  return input;
}

TEST(Delaunay, no_circle_holds_another_point) {
  nacre::rng random(5);
  for (int round = 0; round < 4; ++round) {
    std::vector<point> points;
    for (int k = 0; k < 150; ++k) {
      const point anywhere{random.uniform(), random.uniform()};
      points.push_back(round < 2 ? anywhere : point{std::floor(anywhere.x * 9), std::floor(anywhere.y * 9)});
    }
    const boxed_triangulation boxed_triangulation = triangulate(points);
    for (std::size_t k = 0; k < points.size(); ++k)
      ASSERT_EQ(boxed_triangulation.mesh.at(boxed_triangulation.vertex_of_point[k]), points[k]);
    for (const triangle& each : boxed_triangulation.mesh.triangles) {
      const point &a = boxed_triangulation.mesh.at(each.corner[0]), &b = boxed_triangulation.mesh.at(each.corner[1]),
                  &c = boxed_triangulation.mesh.at(each.corner[2]);
      ASSERT_GT(orient(a, b, c), 0);
      for (const point& other : points) ASSERT_LE(in_circle(a, b, c, other), 0);
    }
  }
}

TEST(Triangulation, a_split_beside_its_side_leaves_sides_that_are_delaunay) {
  triangulation mesh;
  for (const point& position : {point{0, 0}, {1, 0}, {0.5, 1e6}, {0.5, -1e-6}}) mesh.add_vertex(position);
  const side base = side_of(mesh.add_triangle(0, 1, 2, 0), 2);
  mesh.constrain(base);
  mesh.split_side(base, 3);
  mesh.legalise_around(3);
  ASSERT_NE(mesh.find_side(3, 2), none);  // the circle of the triangle does not reach down to the new vertex
  EXPECT_EQ(mesh.legalise_spokes(3).size(), 2u);
  EXPECT_EQ(mesh.find_side(3, 2), none);
  EXPECT_NE(mesh.find_side(0, 1), none);
  EXPECT_FALSE(mesh.constrained(mesh.find_side(0, 1)));
  EXPECT_TRUE(mesh.constrained(mesh.find_side(0, 3)));
}

TEST(Domain, keeps_its_area_segments_and_holes) {
  const meshed meshed = mesh_alone(make_shape("pipe", 1), 0, 0);
  const findings findings = meshed.checked();
  EXPECT_EQ(findings.faults, 0u) << faults_text(findings);
  EXPECT_EQ(findings.triangles, 352u + 2 * 9 - 2);  // of a polygon with 352 corners and 9 holes
  EXPECT_EQ(findings.pieces.size(), 352u);
  const double bore = 24 / 2.0 * 0.09 * 0.09 * std::sin(2 * std::numbers::pi / 24);
  const double wall = 48 * std::sin(2 * std::numbers::pi / 96) - 32 * 0.25 * std::sin(2 * std::numbers::pi / 64);
  EXPECT_NEAR(findings.twice_area.value() / 2, wall - 8 * bore, 1e-14);
}

TEST(Domain, names_what_is_wrong_with_an_input) {
  const std::vector<point> square{{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  pslg crossing = polygon({{0, 0}, {4, 4}, {4, 0}, {0, 4}});
  EXPECT_NE(refusal(crossing).find("test:22: segment 3 crosses segment 1 of line 20 ("), std::string::npos)
      << refusal(crossing);
  pslg open = polygon(square);
  open.segments.pop_back();
  EXPECT_NE(refusal(open).find("enclose no area"), std::string::npos) << refusal(open);
  pslg hole_on_side = polygon(square);
  hole_on_side.holes.push_back({.position = {2, 0}, .line = 30, .name = 1});
  EXPECT_NE(refusal(hole_on_side).find("test:30: hole 1 lies on segment 1"), std::string::npos)
      << refusal(hole_on_side);
  for (const auto& corner : make_shape("key", 1).points) {  // whose inside and outside are both near
    pslg hole_on_corner = make_shape("key", 1);
    hole_on_corner.holes.push_back({.position = corner.position, .line = 30, .name = 99});
    EXPECT_NE(refusal(hole_on_corner).find("key:30: hole 99 lies on segment"), std::string::npos)
        << refusal(hole_on_corner);
  }
  pslg all_hole = polygon(square);
  all_hole.holes.push_back({.position = {2, 1}, .line = 30, .name = 1});
  EXPECT_NE(refusal(all_hole).find("leave no area"), std::string::npos) << refusal(all_hole);
  pslg twice = polygon(square);
  twice.regions.push_back({.position = {1, 2}, .attribute = 1, .line = 31, .name = 1});
  twice.regions.push_back({.position = {2, 1}, .attribute = 2, .line = 32, .name = 2});
  EXPECT_NE(refusal(twice).find("test:32: region 2 lies where another region is"), std::string::npos) << refusal(twice);
  EXPECT_EQ(refusal(polygon(square)), "");
}

TEST(Domain, merges_points_that_lie_together_and_leaves_out_segments_without_length) {
  const pslg input = polygon({{0, 0}, {4, 0}, {4, 1e-14}, {4, 4}, {4, 4}, {0, 4}});
  const meshed meshed = mesh_alone(input, 20.7, 0.5);
  EXPECT_EQ(meshed.input.notes, (std::vector<std::string>{"2 points lie where others do and were merged with them",
                                                          "2 segments have no length and were left out"}));
  EXPECT_EQ(meshed.input.incomplete, (std::vector<std::uint8_t>{0, 3, 0, 3, 0, 0}));
  const findings findings = meshed.checked();
  EXPECT_EQ(findings.faults, 0u) << faults_text(findings);
  EXPECT_EQ(findings.twice_area.value(), 32);
}

TEST(Domain, leads_a_segment_through_a_point_beside_it_but_not_past_a_hole) {
  pslg input = polygon({{0, 0}, {4, 0}, {4, 4}, {0, 4}});
  for (const point& position : {point{2, 1e-14}, {1, 2e-14}, {3, 0.5}}) input.points.push_back({.position = position});
  input.segments.push_back({.begin = 4, .end = 6});
  const meshed meshed = mesh_alone(input, 20.7, 0.5);
  EXPECT_EQ(meshed.input.notes, std::vector<std::string>{"segments lead through 2 points that lie beside them"});
  const findings findings = meshed.checked();
  EXPECT_EQ(findings.faults, 0u) << faults_text(findings);
  EXPECT_NEAR(findings.twice_area.value(), 32, 1e-12);
  input.holes.push_back({.position = {1.5, 1e-14}, .line = 40, .name = 1});
  EXPECT_NE(refusal(input).find("test:40: hole 1 lies on segment 1"), std::string::npos) << refusal(input);
}

TEST(Domain, an_outline_may_bend_by_roundings) {
  std::vector<point> corners;
  for (int k = 0; k <= 60; ++k) corners.push_back({0.1 * k, 0.1 * k / 3});  // on one line, but for roundings
  corners.push_back({-2, 5});
  const meshed meshed = mesh_alone(polygon(corners), 20.7, 0);
  const findings findings = meshed.checked();
  EXPECT_TRUE(meshed.finished);
  EXPECT_EQ(findings.faults, 0u) << faults_text(findings);
  EXPECT_EQ(meshed.input.notes, std::vector<std::string>{});
}

TEST(Domain, a_point_on_a_segment_splits_it_and_a_hole_may_touch_the_outline) {
  pslg input = polygon({{0, 0}, {4, 0}, {4, 4}, {0, 4}});
  for (const point& position : {point{2, 0}, {3, 1}, {2, 2}, {1, 1}}) input.points.push_back({.position = position});
  for (std::uint32_t k = 0; k < 4; ++k) input.segments.push_back({.begin = 4 + k, .end = 4 + (k + 1) % 4});
  input.holes.push_back({.position = {2, 1}});
  const meshed meshed = mesh_alone(input, 25, 0.1);
  const findings findings = meshed.checked();
  EXPECT_TRUE(meshed.finished);
  EXPECT_EQ(findings.faults, 0u) << faults_text(findings);
  EXPECT_EQ(findings.twice_area.value(), 28);
  const auto at_touch =
      std::count_if(meshed.work.mesh.vertices.begin(), meshed.work.mesh.vertices.end(), [](const vertex& v) {
        return v.position == point{2, 0};
      });
  EXPECT_EQ(at_touch, 2);  // one for each side of the hole
}

TEST(Refiner, meets_every_bound_on_every_shape) {
  for (const std::string& name : shape_names()) {
    for (const double degrees : {0.0, 20.7, 30.0}) {
      for (const double area : {0.0, 0.01, 0.0004}) {
        const meshed meshed = mesh_alone(make_shape(name, 3), degrees, area);
        const findings findings = meshed.checked();
        EXPECT_TRUE(meshed.finished) << name;
        EXPECT_EQ(findings.faults, 0u) << name << " " << degrees << " " << area << "\n" << faults_text(findings);
        EXPECT_LE(std::abs(findings.twice_area.value() - meshed.input.twice_area.value()), findings.area_error_max)
            << name;
        EXPECT_TRUE(findings.exempt > 0 || findings.degrees_min >= degrees * (1 - 1e-9)) << name;
        EXPECT_GT(static_cast<double>(findings.triangles) * area, area > 0 ? findings.twice_area.value() / 2 : -1)
            << name;
      }
    }
  }
}

TEST(Refiner, stops_and_goes_on_with_one_result) {
  meshed whole = mesh_alone(make_shape("key", 1), 25, 0.001), sliced = mesh_alone(make_shape("key", 1), 25, 0.001, 1);
  ASSERT_TRUE(whole.finished);
  ASSERT_FALSE(sliced.finished);
  int slices = 1;
  while (!refiner(sliced.work, sliced.rule).refine(100)) ++slices;
  EXPECT_GT(slices, 10);
  ASSERT_EQ(whole.work.mesh.vertices.size(), sliced.work.mesh.vertices.size());
  for (index v = 0; v < whole.work.mesh.vertices.size(); ++v) ASSERT_EQ(whole.work.mesh.at(v), sliced.work.mesh.at(v));
}

TEST(Refiner, ends_at_angles_down_to_a_millionth_of_a_degree) {
  for (const double degrees : {59.0, 40.0, 15.0, 5.1, 4.9, 1.0, 0.01, 1e-6}) {
    const double turn = degrees * std::numbers::pi / 180;
    pslg input = polygon({{-4, -4}, {4, -4}, {4, 4}, {-4, 4}});
    input.points.push_back({.position = {0, 0}});
    for (int k = 0; k < 3; ++k) {
      const double length = 1 + 0.37 * k;
      input.segments.push_back({.begin = 4, .end = static_cast<std::uint32_t>(input.points.size())});
      input.points.push_back({.position = {length * std::cos(turn * k), length * std::sin(turn * k)}});
    }
    const meshed meshed = mesh_alone(input, 20.7, 0);
    const findings findings = meshed.checked();
    EXPECT_TRUE(meshed.finished) << degrees;
    EXPECT_EQ(findings.faults, 0u) << degrees << "\n" << faults_text(findings);
    EXPECT_LT(findings.triangles, 2000u) << degrees;
    EXPECT_EQ(findings.exempt == 0, degrees > 20.7) << degrees;
  }
}

TEST(Refiner, random_degenerate_inputs_are_meshed_or_refused_by_name) {
  constexpr std::uint64_t seeds = 2000;
  std::uint64_t clean = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    try {
      const meshed meshed = mesh_alone(troubled_input::make(seed), 20.7, 0);
      const findings findings = meshed.checked();
      ASSERT_TRUE(meshed.finished) << seed;
      ASSERT_EQ(findings.faults, 0u) << seed << "\n" << faults_text(findings);
      ASSERT_LE(std::abs(findings.twice_area.value() - meshed.input.twice_area.value()), findings.area_error_max)
          << seed;
      ++clean;
    } catch (const nacre::setup_error& error) {
      const std::string text = error.what();
      ASSERT_EQ(text.rfind("troubled: ", 0), 0u) << text;
      ASSERT_NE(text.find("): "), std::string::npos) << text;
      ++refused;
    }
  }
  EXPECT_GT(clean, seeds / 3);
  EXPECT_GT(refused, seeds / 5);
}

}  // namespace
}  // namespace mesh2d
