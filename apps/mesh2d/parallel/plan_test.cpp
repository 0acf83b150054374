// SPDX-License-Identifier: Apache-2.0
// Decompositions, and the protocol of splits, on one thread.
#include "parallel/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "input/shapes.hpp"
#include "kernel/mesh_for_tests.hpp"
#include "kernel/troubled_input.hpp"
#include "parallel/partition.hpp"
#include "parallel/together_for_tests.hpp"

namespace mesh2d {
namespace {

std::string first_fault(const findings& findings) {
  return findings.fault_texts.empty() ? "" : findings.fault_texts.front();
}

options wanted(std::uint32_t subdomains, std::uint64_t triangles) {
  return {.triangles = triangles, .subdomains = subdomains};
}

TEST(Plan, gives_about_as_many_triangles_as_are_asked_for) {
  for (const std::string& name : shape_names()) {
    for (const std::uint32_t subdomains : {1u, 2u, 9u, 30u}) {
      plan plan = make_plan(make_shape(name, 2), wanted(subdomains, 20'000));
      EXPECT_EQ(plan.parts.size(), subdomains);
      ASSERT_TRUE(refine_together(plan, subdomains));
      const findings findings = check_together(plan);
      EXPECT_EQ(findings.faults, 0u) << name << " " << first_fault(findings);
      EXPECT_NEAR(static_cast<double>(findings.triangles), 20'000, 1'600) << name << " " << subdomains;
      EXPECT_GT(findings.degrees_min, findings.exempt > 0 ? 10 : 20.7) << name;
    }
  }
}

TEST(Plan, interfaces_forbid_no_angle) {
  for (const std::string name : {"pipe", "key", "comb"}) {  // without small angles of their own
    for (const double degrees : {20.7, 25.0, 28.0, 30.0}) {
      for (const std::uint32_t subdomains : {5u, 17u, 60u}) {
        options asked = wanted(subdomains, 4000);
        asked.degrees = degrees;
        plan plan = make_plan(make_shape(name, 1), asked);
        ASSERT_TRUE(refine_together(plan, subdomains));
        const findings findings = check_together(plan);
        EXPECT_EQ(findings.faults, 0u) << name << " " << degrees << " " << first_fault(findings);
        EXPECT_EQ(findings.exempt, 0u) << name << " " << degrees;
        EXPECT_GE(findings.degrees_min, degrees * (1 - 1e-9)) << name;
      }
    }
  }
}

TEST(Plan, a_size_field_is_met_and_expected) {
  options asked = wanted(8, 0);
  asked.sources = {{.position = {0, 0}, .length = 0.002, .growth = 0.1},
                   {.position = {1, 1}, .length = 0.01, .growth = 0.2}};
  plan plan = make_plan(make_shape("square", 1), asked);
  double expected = 0;
  for (const double each : plan.expected) expected += each;
  ASSERT_TRUE(refine_together(plan, 1));
  const findings findings = check_together(plan);
  EXPECT_EQ(findings.faults, 0u) << first_fault(findings);
  EXPECT_NEAR(static_cast<double>(findings.triangles) / expected, 1, 0.25);
  const auto [fewest, most] = std::minmax_element(
      plan.parts.begin(), plan.parts.end(),
      [](const part& a, const part& b) { return a.mesh.triangles.size() < b.mesh.triangles.size(); });
  EXPECT_LT(most->mesh.triangles.size(), 3 * fewest->mesh.triangles.size());
}

TEST(Partition, of_a_group_that_outweighs_all_others_METIS_does_not_complain) {
  const meshed fine = mesh_alone(make_shape("square", 1), 20.7, 0.005);
  const triangulation& mesh = fine.work.mesh;
  for (std::uint32_t count = 2; count < 30; ++count) {
    std::vector<double> weights(mesh.triangles.size(), 1e-9);
    weights[7] = 1;
    testing::internal::CaptureStdout();
    const std::vector<std::uint32_t> part_of = partition(mesh, weights, 20.7, count);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << count;
    const std::uint32_t used = *std::max_element(part_of.begin(), part_of.end()) + 1;
    EXPECT_GE(used, count - 1);
  }
}

TEST(Partition, gives_neighbours_near_numbers_so_that_ranks_share_few_borders) {
  const meshed fine = mesh_alone(make_shape("pipe", 1), 20.7, 0.0005);
  const triangulation& mesh = fine.work.mesh;
  constexpr std::uint32_t count = 64;
  const std::vector<std::uint32_t> part_of =
      partition(mesh, std::vector<double>(mesh.triangles.size(), 1), 20.7, count);
  std::size_t borders = 0, between_halves = 0;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (const side other : mesh.triangles[t].twin) {
      if (other == none || part_of[triangle_of(other)] == part_of[t]) continue;
      ++borders;
      if ((part_of[triangle_of(other)] < count / 2) != (part_of[t] < count / 2)) ++between_halves;
    }
  }
  EXPECT_LT(6 * between_halves, borders) << between_halves << " of " << borders;  // half of them for random numbers
}

TEST(Plan, refuses_bounds_that_cannot_be_met) {
  options few = wanted(1, 100);
  few.sources = {{.position = {0, 0}, .length = 0.001, .growth = 0.01}};
  EXPECT_THROW(make_plan(make_shape("square", 1), few), nacre::setup_error);
  options many = wanted(1, 0);
  many.area_max = 1e-30;
  EXPECT_THROW(make_plan(make_shape("square", 1), many), nacre::setup_error);
}

TEST(Plan, random_degenerate_inputs_keep_their_interfaces) {
  constexpr std::uint64_t seeds = 2000;
  std::uint64_t clean = 0, interfaces = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    try {
      options asked;
      asked.subdomains = 2 + static_cast<std::uint32_t>(seed % 5);
      plan plan = make_plan(troubled_input::make(seed), asked);
      ASSERT_TRUE(refine_together(plan, seed)) << seed;
      const findings findings = check_together(plan);
      ASSERT_EQ(findings.faults, 0u) << seed << " " << first_fault(findings);
      ++clean;
      for (const part& each : plan.parts) interfaces += interfaces_of(each).size();
    } catch (const nacre::setup_error&) {
      continue;  // kernel_test.cpp looks at these
    }
  }
  EXPECT_GT(clean, seeds / 3);
  EXPECT_GT(interfaces, 4 * seeds);
}

TEST(Plan, what_only_the_whole_shows_is_found) {
  plan sound = make_plan(make_shape("pipe", 1), wanted(6, 5000));
  ASSERT_TRUE(refine_together(sound, 1));
  ASSERT_EQ(check_together(sound).faults, 0u);

  plan silent = make_plan(make_shape("pipe", 1), wanted(6, 5000));
  for (part& each : silent.parts) {
    while (!refiner(each, silent.rule).refine(1000)) continue;  // nobody tells anybody
  }
  EXPECT_NE(first_fault(check_together(silent)).find("interfaces differ"), std::string::npos);

  plan shifted = sound;
  shifted.twice_area.add(1e-9);
  EXPECT_NE(first_fault(check_together(shifted)).find("the area is"), std::string::npos);
  plan incomplete = sound;
  ++incomplete.pieces;
  EXPECT_NE(first_fault(check_together(incomplete)).find("in no subdomain"), std::string::npos);
  plan uncovered = sound;
  uncovered.faults.push_back("segment 1 of the input is not covered");
  EXPECT_EQ(first_fault(check_together(uncovered)), "segment 1 of the input is not covered");
}

TEST(Plan, refuses_more_triangles_than_memory_holds) {
  const options fine{.area_max = 1e-9};  // some 1.5 billion triangles of the square, in 75 GB
  try {
    static_cast<void>(make_plan(make_shape("square", 1), fine, 70e9));
    FAIL();
  } catch (const nacre::setup_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("1.55e+09 triangles are asked for (they take 74.6 GB, and 70 GB of memory are free)"),
              std::string::npos)
        << said;
  }
  EXPECT_NO_THROW(make_plan(make_shape("square", 1), wanted(2, 100'000), 5e6));
  EXPECT_THROW(make_plan(make_shape("square", 1), wanted(2, 100'000), 4e6), nacre::setup_error);
}

TEST(Plan, a_split_that_does_not_fit_is_an_error) {
  plan plan = make_plan(make_shape("square", 1), wanted(2, 100));
  EXPECT_THROW(refiner(plan.parts[0], plan.rule).apply({plan.pieces + 7, whole_fraction / 2}), std::runtime_error);
  std::uint32_t outer = none;
  for (const piece& each : plan.parts[0].pieces) {
    if (each.neighbour == none) outer = each.name;
  }
  EXPECT_THROW(refiner(plan.parts[0], plan.rule).apply({outer, whole_fraction / 2}), std::runtime_error);
  EXPECT_THROW(refiner(plan.parts[0], plan.rule).apply({outer, 0}), std::runtime_error);
}

TEST(Plan, a_split_brings_its_ancestors_and_comes_twice_without_harm) {
  plan plan = make_plan(make_shape("square", 1), wanted(2, 100));
  const auto interface = std::find_if(plan.parts[0].pieces.begin(), plan.parts[0].pieces.end(),
                                      [](const piece& each) { return each.neighbour != none; });
  ASSERT_NE(interface, plan.parts[0].pieces.end());
  const auto position = static_cast<std::size_t>(interface - plan.parts[0].pieces.begin());
  const piece_split fine{interface->name, whole_fraction / 8 * 3};
  for (int time = 0; time < 2; ++time) refiner(plan.parts[0], plan.rule).apply(fine);
  std::vector<index> places;
  for (const chain_vertex& each : plan.parts[0].chains[position])
    places.push_back(each.fraction / (whole_fraction / 8));
  EXPECT_EQ(places, (std::vector<index>{0, 2, 3, 4, 8}));
}

}  // namespace
}  // namespace mesh2d
