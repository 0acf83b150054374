// SPDX-License-Identifier: Apache-2.0
// Boundaries that lack something of the surface, though each of their triangles is near to it.
#include "kernel/surface_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "surface/polycube.hpp"
#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

surface_mesh joined(surface_mesh a, const surface_mesh& b) {
  const auto first = static_cast<std::uint32_t>(a.points.size());
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (const auto& [v, w, x] : b.triangles) a.triangles.push_back({v + first, w + first, x + first});
  return a;
}

surface_mesh scaled(surface_mesh mesh, const point& factor, const point& shift) {
  for (point& p : mesh.points) p = point{p.x * factor.x, p.y * factor.y, p.z * factor.z} + shift;
  return mesh;
}

/// A surface with one length for all edges, and a boundary, both given in one space of a file.
class judged_pair {
 public:
  judged_pair(const surface_mesh& surface, const surface_mesh& boundary, double length_in_file)
      : surface_(placed(surface, length_in_file)), boundary_(of_boundary(boundary, surface_.of().place)) {
    size_.everywhere = length_in_file * surface_.of().place.scale;
    size_.surface = &surface_.tree();
  }

  /// Measured by boxes of a grid of so many a side.
  [[nodiscard]] findings judge(int boxes = 1) const {
    findings match;
    match.surface.inner_volume = enclosed_volume(boundary_.of().mesh);
    for (std::size_t t = 0; t < boundary_.of().mesh.triangles.size(); ++t) {
      measure_boundary(boundary_.of().mesh.corners(t), size_, match.surface);
    }
    for (int k = 0; k < boxes * boxes * boxes; ++k) {
      const point low = point{1.0 * (k % boxes), 1.0 * (k / boxes % boxes), 1.0 * (k / boxes / boxes)} * (1.0 / boxes);
      findings part;
      measure_surface({low, low + point{1, 1, 1} * (1.0 / boxes)}, boundary_.tree(), size_, part.surface);
      match.merge(part);
    }
    judge_surface(surface_.of(), boundary_.of().mesh, match);
    return match;
  }
  [[nodiscard]] const surface_in_cube& surface() const { return surface_; }
  [[nodiscard]] const surface_in_cube& boundary() const { return boundary_; }
  [[nodiscard]] double length() const { return size_.everywhere; }

 private:
  static placed_surface placed(const surface_mesh& surface, double length_in_file) {
    placed_surface result = place_surface(surface, {}, "surface");
    std::fill(result.lengths.begin(), result.lengths.end(), length_in_file * result.place.scale);
    return result;
  }
  static placed_surface of_boundary(const surface_mesh& boundary, const placement& place) {
    placed_surface result;
    result.mesh = boundary;
    for (point& p : result.mesh.points) p = place.into_cube(p);
    result.lengths.resize(result.mesh.triangles.size());
    return result;
  }

  surface_in_cube surface_, boundary_;
  size_field size_{};
};

void expect_passed(const findings& findings) {
  EXPECT_EQ(findings.faults, 0u) << (findings.fault_texts.empty() ? "" : findings.fault_texts.front());
}

/// There is one fault, and it says this.
void expect_fault(const findings& findings, const std::string& said) {
  ASSERT_EQ(findings.fault_texts.size(), 1u) << (findings.fault_texts.empty() ? "" : findings.fault_texts.back());
  EXPECT_NE(findings.fault_texts.front().find(said), std::string::npos) << findings.fault_texts.front();
}

/// A box without the edge at y = 1 and z = 1: a plane cuts it off, so far from it along both faces.
surface_mesh box_without_edge(double cut) {
  surface_mesh mesh;
  for (const double x : {0.0, 1.0}) {
    for (const auto& [y, z] : {std::pair{0.0, 0.0}, {1.0, 0.0}, {1.0, 1 - cut}, {1 - cut, 1.0}, {0.0, 1.0}}) {
      mesh.points.push_back({x, y, z});
    }
  }
  for (std::uint32_t k = 0; k < 5; ++k) {
    const std::uint32_t next = (k + 1) % 5;
    mesh.triangles.push_back({k, next, next + 5});
    mesh.triangles.push_back({k, next + 5, k + 5});
  }
  for (std::uint32_t k = 2; k < 5; ++k) {
    mesh.triangles.push_back({0, k, k - 1});
    mesh.triangles.push_back({5, k + 4, k + 5});
  }
  return mesh;
}

TEST(SurfaceCheck, passes_the_surface_itself_and_knows_its_volume) {
  struct row {
    const char* name;
    double volume;
  };
  for (const auto& [name, volume] :
       {row{"sphere", 4 * std::numbers::pi / 3}, row{"torus", 2 * std::numbers::pi * std::numbers::pi * 0.16},
        row{"block", 0.48}, row{"spheres", 4 * std::numbers::pi / 3 * 1.125}}) {
    const judged_pair pair(*make_shape(name), *make_shape(name), 0.1);
    const findings findings = pair.judge();
    expect_passed(findings);
    EXPECT_NEAR(findings.surface.inner_volume / std::pow(pair.surface().of().place.scale, 3), volume, 0.005 * volume);
    EXPECT_LT(findings.surface.from_surface.by_length, 1e-9) << name;
    EXPECT_LT(findings.surface.to_surface.by_length, 1e-9) << name;
    EXPECT_EQ(findings.surface.corners_off, 0u) << name;
  }
}

TEST(SurfaceCheck, fails_a_box_that_has_lost_an_edge) {
  const double length = 0.1;
  ASSERT_NEAR(enclosed_volume(box_without_edge(0.3)), 1 - 0.3 * 0.3 / 2, 1e-12);
  ASSERT_EQ(count_surface(box_without_edge(0.3)).euler_numbers, (std::vector<std::int64_t>{2}));
  // The middle of the cut is 1.15 / 2 lengths away from both faces, so within one length; the lost edge is 1.15 /
  // sqrt(2) lengths away from the cut.
  const judged_pair lost(polycube({"#"}), box_without_edge(1.15 * length), length);
  const findings findings = lost.judge();
  expect_fault(findings, "a part of the surface is lost at (");
  expect_fault(findings, "(bound 0.6)");
  EXPECT_NEAR(findings.surface.to_surface.by_length, 1.15 / 2, 0.2);
  EXPECT_NEAR(findings.surface.from_surface.by_length, 1.15 / std::sqrt(2.0), 0.11);
  EXPECT_NEAR(findings.surface.from_surface.distance / lost.surface().of().place.scale, 0.0813, 0.011);
  expect_passed(judged_pair(polycube({"#"}), box_without_edge(0.8 * length), length).judge());
}

TEST(SurfaceCheck, fails_a_boundary_that_leaves_the_surface) {
  surface_mesh spiked = *make_shape("sphere");
  spiked.points[3] = spiked.points[3] * 1.08;
  expect_fault(judged_pair(*make_shape("sphere"), spiked, 0.1).judge(), "the mesh leaves the surface at (");
  expect_passed(judged_pair(*make_shape("sphere"), spiked, 0.2).judge());
}

TEST(SurfaceCheck, fails_a_boundary_that_has_lost_a_handle) {
  const surface_mesh three = polycube({"###########", "##.##.##.##", "###########", "###########"});
  const surface_mesh two = polycube({"###########", "##.#####.##", "###########", "###########"});
  expect_passed(judged_pair(three, three, 1).judge());
  expect_passed(judged_pair(two, two, 1).judge());
  const findings findings = judged_pair(three, two, 1).judge();  // all within the hole are half a length from its walls
  expect_fault(findings, "-2 of the boundary's 1 components, -4 of the surface's 1");
  EXPECT_EQ(findings.surface.counts.euler_numbers, (std::vector<std::int64_t>{-2}));
  expect_fault(judged_pair(two, three, 1).judge(), "-4 of the boundary's 1 components, -2 of the surface's 1");
}

TEST(SurfaceCheck, fails_a_boundary_whose_sides_meet_at_an_edge) {
  const surface_mesh whole = polycube({"####", "####", "####", "####"});
  const surface_mesh touching = polycube({"##..", "##..", "..##", "..##"});
  const findings findings = judged_pair(whole, touching, 1).judge();
  EXPECT_EQ(findings.surface.counts.edges_not_of_two, 1u);
  EXPECT_TRUE(std::any_of(findings.fault_texts.begin(), findings.fault_texts.end(), [](const std::string& text) {
    return text.find("1 edges of the boundary do not have two triangles (bound 0)") != std::string::npos;
  }));
}

TEST(SurfaceCheck, fails_a_boundary_without_a_component) {
  const surface_mesh sphere = *make_shape("sphere"), block = *make_shape("block");
  const surface_mesh both = joined(sphere, scaled(block, {0.02, 0.02, 0.02}, {1.01, 0, 0}));
  expect_passed(judged_pair(both, both, 0.1).judge());
  expect_fault(judged_pair(both, sphere, 0.1).judge(), "none of the boundary's 1 components, 2 of the surface's 2");
}

TEST(SurfaceCheck, fails_a_plate_that_has_lost_an_eighth_of_its_volume) {
  const surface_mesh plate = scaled(polycube({"#"}), {1, 1, 0.1}, {0, 0, 0});
  const surface_mesh thinner = scaled(polycube({"#"}), {1, 1, 0.1 * (1 - 0.127)}, {0, 0, 0});
  expect_fault(judged_pair(plate, thinner, 0.15).judge(),
               "the volume inside is 0.873 of that within the surface (bounds 0.95 and 1.05)");
  expect_passed(judged_pair(plate, scaled(plate, {1, 1, 0.97}, {0, 0, 0}), 0.15).judge());
}

TEST(SurfaceCheck, fails_a_sphere_with_a_dent) {
  surface_mesh dented = *make_shape("sphere");
  for (point& p : dented.points) p = p.z > 0 ? p * 0.91 : p;
  // (1 - 0.91^3) / 2 of the volume is lost.
  expect_fault(judged_pair(*make_shape("sphere"), dented, 0.2).judge(), "the volume inside is 0.87");
}

TEST(SurfaceCheck, fails_a_mesh_without_a_boundary) {
  const findings findings = judged_pair(*make_shape("block"), {}, 0.1).judge();
  EXPECT_GE(findings.faults, 3u);
}

TEST(SurfaceCheck, finds_the_same_by_one_box_and_by_many) {
  const judged_pair pair(polycube({"#"}), box_without_edge(0.115), 0.1);
  const findings one = pair.judge(1), many = pair.judge(5);
  EXPECT_EQ(one.faults, many.faults);
  EXPECT_NEAR(one.surface.from_surface.area, pair.surface().of().area, 1e-9);
  EXPECT_NEAR(many.surface.from_surface.area, pair.surface().of().area, 1e-9);
  EXPECT_NEAR(one.surface.from_surface.by_length, many.surface.from_surface.by_length, 0.11);
}

/// The greatest of the distances of random points of one surface from all triangles of the other one.
double sampled_distance(const surface_mesh& source, const surface_mesh& target, nacre::rng& random) {
  double most = 0;
  for (std::size_t t = 0; t < source.triangles.size(); ++t) {
    const auto [a, b, c] = source.corners(t);
    for (int k = 0; k < 40; ++k) {
      double u = random.uniform(), v = random.uniform();
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const point p = a + (b - a) * u + (c - a) * v;
      double least = 10;
      for (std::size_t s = 0; s < target.triangles.size(); ++s) {
        least = std::min(least, squared_length(p - nearest_on_triangle(p, target.corners(s))));
      }
      most = std::max(most, std::sqrt(least));
    }
  }
  return most;
}

TEST(Deviation, is_that_of_random_points_to_a_fifth_of_a_length_or_better) {
  nacre::rng random(11);
  for (int round = 0; round < 12; ++round) {
    surface_mesh moved = polycube({"###", "#.#"});
    for (point& p : moved.points) {
      p = p + point{random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5} * (0.1 * round);
    }
    const judged_pair pair(polycube({"###", "#.#"}), moved, 1);
    const findings findings = pair.judge(2);
    const double length = pair.length();
    const double remote_value = sampled_distance(pair.surface().of().mesh, pair.boundary().of().mesh, random) / length;
    const double back = sampled_distance(pair.boundary().of().mesh, pair.surface().of().mesh, random) / length;
    const auto expect_near = [](double sampled, double measured, double bound) {
      if (sampled > bound) {
        EXPECT_GT(measured, bound);
      }
      EXPECT_GT(measured, sampled - 0.21);
      EXPECT_LT(measured, sampled + 0.15);  // random points miss the greatest by a little
    };
    expect_near(remote_value, findings.surface.from_surface.by_length, surface_findings::from_surface_bound);
    expect_near(back, findings.surface.to_surface.by_length, surface_findings::to_surface_bound);
  }
}

}  // namespace
}  // namespace mesh3d
