// SPDX-License-Identifier: Apache-2.0
// Whole jobs: threads as ranks, simulated ranks, balancers that move subdomains all the time.
#include "parallel/mesher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "output/writers.hpp"
#include "parallel/job_for_tests.hpp"

namespace mesh3d {
namespace {

const options graded{.size = 0.1, .sources = {{{0.3, 0.2, 0.4}, 0.02, 0.3}}, .subdomains = 16, .check = true};

void expect_sound(const outcome& outcome) {
  EXPECT_TRUE(outcome.done.checked);
  EXPECT_EQ(outcome.done.verdict.faults, 0u)
      << (outcome.done.verdict.fault_texts.empty() ? "" : outcome.done.verdict.fault_texts.front());
  EXPECT_EQ(outcome.done.verdict.tetrahedra, outcome.done.counts.tetrahedra);
  EXPECT_EQ(outcome.mesh.tetrahedra.size(), outcome.done.counts.tetrahedra);
}

TEST(Mesher, makes_one_mesh_whatever_runs_it) {
  const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, graded);
  expect_sound(first);
  EXPECT_GT(first.mesh.tetrahedra.size(), 10'000u);
  std::uint64_t moves = 0;
  for (const settings& tuning :
       {settings{{"ranks", "1"}, {"workers", "3"}}, settings{{"ranks", "3"}, {"workers", "2"}, {"balancer", "rotate"}},
        settings{{"ranks", "2"}, {"balancer", "diffusion"}},
        settings{{"transport", "sim"}, {"ranks", "5"}, {"seed", "3"}, {"balancer", "lifeline"}},
        settings{{"transport", "sim"},
                 {"ranks", "8"},
                 {"seed", "4"},
                 {"balancer", "rotate"},
                 {"balance.rotate.interval", "100us"},
                 {"check_serialization", "true"}}}) {
    const outcome other = run_job(tuning, graded);
    expect_sound(other);
    EXPECT_EQ(other.mesh.points, first.mesh.points);
    EXPECT_EQ(other.mesh.tetrahedra, first.mesh.tetrahedra);
    EXPECT_EQ(other.mesh.subdomains, first.mesh.subdomains);
    moves += other.done.moves;
  }
  EXPECT_GT(moves, 5u);
}

TEST(Mesher, subdomains_that_move_while_they_are_refined_go_on_as_they_were) {
  const options asked{.size = 0.06, .subdomains = 8, .check = true};
  const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, asked);
  expect_sound(first);
  const outcome moved = run_job(
      {{"transport", "sim"}, {"ranks", "3"}, {"balancer", "rotate"}, {"balance.rotate.interval", "100us"}}, asked);
  EXPECT_GT(moved.done.moves, 10u);
  EXPECT_EQ(moved.mesh.points, first.mesh.points);
  EXPECT_EQ(moved.mesh.tetrahedra, first.mesh.tetrahedra);
}

TEST(Mesher, joins_subdomains_at_their_faces) {
  const outcome outcome = run_job({{"ranks", "2"}}, graded);
  std::map<std::array<std::uint32_t, 3>, int> facets;
  std::set<std::array<std::uint32_t, 2>> edges;
  for (const auto& each : outcome.mesh.tetrahedra) {
    for (unsigned k = 0; k < 4; ++k) {
      std::array<std::uint32_t, 3> facet{each[(k + 1) % 4], each[(k + 2) % 4], each[(k + 3) % 4]};
      std::sort(facet.begin(), facet.end());
      ++facets[facet];
      edges.insert({facet[0], facet[1]});
      edges.insert({facet[1], facet[2]});
      edges.insert({facet[0], facet[2]});
    }
  }
  for (const auto& [facet, count] : facets) {
    const auto on_face = [&](double point::*axis, double time) {
      return std::all_of(facet.begin(), facet.end(),
                         [&](std::uint32_t v) { return outcome.mesh.points[v].*axis == time; });
    };
    bool at_boundary = false;
    for (double point::*axis : {&point::x, &point::y, &point::z}) {
      at_boundary = at_boundary || on_face(axis, 0) || on_face(axis, 1);
    }
    ASSERT_EQ(count, at_boundary ? 1 : 2);
  }
  // Points - edges + facets - tetrahedra of a ball: any crack between subdomains would add to it.
  EXPECT_EQ(static_cast<long>(outcome.mesh.points.size()) - static_cast<long>(edges.size()) +
                static_cast<long>(facets.size()) - static_cast<long>(outcome.mesh.tetrahedra.size()),
            1);
}

TEST(Mesher, subdomains_that_disagree_on_a_face_fail_the_check) {
  const outcome lost = run_job({{"ranks", "2"}}, graded, [](plan& mesh_plan) {
    auto& edges = mesh_plan.leaves[3].edges;  // one side does not know where the other one has cut an edge
    edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 2));
  });
  EXPECT_GT(lost.done.verdict.faults, 0u);
  const outcome blind =
      run_job({{"ranks", "2"}}, graded, [](plan& mesh_plan) { mesh_plan.leaves[5].faces.pop_back(); });
  EXPECT_GT(blind.done.verdict.faults, 0u);
}

const options torus{.input = "torus",
                    .surface = {.length_max = 0, .edges_a_turn = 10},
                    .size = 0.075,
                    .sliver_degrees = 8,
                    .subdomains = 20,
                    .check = true};

TEST(Mesher, makes_one_mesh_of_a_surface_whatever_runs_it) {
  const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, torus);
  EXPECT_EQ(first.done.verdict.faults, 0u);
  EXPECT_EQ(first.mesh.tetrahedra.size(), first.done.counts.inner);
  EXPECT_LT(first.done.verdict.dihedrals[0], first.done.verdict.unsplit[0] * 3 / 4);
  EXPECT_GT(first.mesh.tetrahedra.size(), 2000u);
  std::uint64_t moves = 0;
  for (const settings& tuning : {settings{{"ranks", "3"}, {"workers", "2"}, {"balancer", "rotate"}},
                                 settings{{"transport", "sim"},
                                          {"ranks", "7"},
                                          {"seed", "9"},
                                          {"balancer", "rotate"},
                                          {"balance.rotate.interval", "100us"},
                                          {"check_serialization", "true"}}}) {
    const outcome other = run_job(tuning, torus);
    EXPECT_EQ(other.done.verdict.faults, 0u);
    EXPECT_EQ(other.mesh.points, first.mesh.points);
    EXPECT_EQ(other.mesh.tetrahedra, first.mesh.tetrahedra);
    EXPECT_EQ(other.mesh.inner, first.mesh.inner);
    moves += other.done.moves;
  }
  EXPECT_GT(moves, 5u);
}

struct boundary {
  std::size_t triangles = 0;
  std::map<std::array<std::uint32_t, 2>, int> edges{};  // with the number of triangles at each
  std::set<std::uint32_t> corners{};
};

/// The triangles that only one tetrahedron has.
boundary boundary_of(const whole_mesh& mesh) {
  std::map<std::array<std::uint32_t, 3>, int> facets;
  for (const auto& each : mesh.tetrahedra) {
    for (unsigned k = 0; k < 4; ++k) {
      std::array<std::uint32_t, 3> facet{each[(k + 1) % 4], each[(k + 2) % 4], each[(k + 3) % 4]};
      std::sort(facet.begin(), facet.end());
      EXPECT_LE(++facets[facet], 2);
    }
  }
  boundary result;
  for (const auto& [facet, count] : facets) {
    if (count == 2) continue;
    ++result.triangles;
    ++result.edges[{facet[0], facet[1]}];
    ++result.edges[{facet[1], facet[2]}];
    ++result.edges[{facet[0], facet[2]}];
    result.corners.insert(facet.begin(), facet.end());
  }
  return result;
}

TEST(Mesher, what_is_kept_of_a_torus_has_the_boundary_of_one) {
  const outcome outcome = run_job({{"ranks", "2"}}, torus);
  const boundary boundary = boundary_of(outcome.mesh);
  EXPECT_TRUE(
      std::all_of(boundary.edges.begin(), boundary.edges.end(), [](const auto& each) { return each.second == 2; }));
  EXPECT_EQ(boundary.triangles, outcome.done.verdict.surface.triangles);
  EXPECT_EQ(boundary.corners.size() + boundary.triangles, boundary.edges.size());  // no handle more or less
  std::size_t off = 0;
  for (const std::uint32_t v : boundary.corners) {
    const auto nearest = outcome.done.surface->tree().nearest(outcome.mesh.points[v], 0.06);
    ASSERT_TRUE(nearest);
    off += squared_length(*nearest - outcome.mesh.points[v]) > 1e-20 ? 1 : 0;
  }
  EXPECT_LT(off, boundary.corners.size() / 20);
  EXPECT_NEAR(outcome.done.verdict.surface.inner_volume / outcome.done.surface->of().volume, 1, 0.05);
}

TEST(Mesher, keeps_the_sides_that_are_asked_for) {
  for (const sides keep : {sides::outside, sides::both}) {
    options asked = torus;
    asked.keep = keep;
    const outcome outcome = run_job({{"ranks", "1"}}, asked);
    const std::uint64_t inner = outcome.done.counts.inner, all = outcome.done.counts.tetrahedra;
    EXPECT_EQ(outcome.mesh.tetrahedra.size(), keep == sides::outside ? all - inner : all);
    EXPECT_EQ(std::count(outcome.mesh.inner.begin(), outcome.mesh.inner.end(), 1),
              keep == sides::outside ? 0 : static_cast<std::ptrdiff_t>(inner));
    const boundary boundary = boundary_of(outcome.mesh);
    EXPECT_TRUE(
        std::all_of(boundary.edges.begin(), boundary.edges.end(), [](const auto& each) { return each.second == 2; }));
  }
}

TEST(Mesher, parts_within_parts_and_side_by_side_are_told_apart) {
  for (const char* name : {"shell", "spheres"}) {
    const outcome outcome = run_job({{"ranks", "2"}}, {.input = name, .size = 0.09, .subdomains = 8, .check = true});
    EXPECT_EQ(outcome.done.verdict.faults, 0u) << name;
    const boundary boundary = boundary_of(outcome.mesh);
    EXPECT_EQ(boundary.corners.size() + boundary.triangles, boundary.edges.size() + 4) << name;  // two spheres
  }
}

TEST(Mesher, a_mesh_that_is_too_coarse_for_the_surface_fails_the_check) {
  const outcome outcome =
      run_job({{"ranks", "1"}}, {.input = "knot", .surface = {.edges_a_turn = 0}, .size = 0.5, .check = true});
  EXPECT_GT(outcome.done.verdict.faults, 0u);
}

TEST(Mesher, a_volume_that_differs_from_that_of_the_surface_fails_the_check) {
  const outcome wrong = run_job({{"ranks", "2"}}, torus, [](plan& mesh_plan) {
    placed_surface other = mesh_plan.surface->of();
    other.volume *= 1.2;
    mesh_plan.surface = std::make_shared<const surface_in_cube>(std::move(other));
    mesh_plan.rule.size.surface = &mesh_plan.surface->tree();
  });
  EXPECT_EQ(wrong.done.verdict.faults, 1u);
}

TEST(Writers, files_hold_the_mesh) {
  const options small{.size = 0.3};
  const outcome outcome = run_job({{"ranks", "1"}}, small);
  std::ostringstream vtu, svg;
  write_vtu(outcome.mesh, vtu);
  const std::string cells = "NumberOfCells=\"" + std::to_string(outcome.mesh.tetrahedra.size()) + "\"";
  EXPECT_NE(vtu.str().find(cells), std::string::npos);
  EXPECT_GT(vtu.str().size(), outcome.mesh.points.size() * 24 + outcome.mesh.tetrahedra.size() * 33);
  write_svg(outcome.mesh, 0.47, svg);
  const std::string picture = svg.str();
  EXPECT_GT(std::count(picture.begin(), picture.end(), 'Z'), 30);
  EXPECT_THROW(check_output_name("mesh.obj"), nacre::setup_error);
}

}  // namespace
}  // namespace mesh3d
