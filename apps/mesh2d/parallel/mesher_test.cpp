// SPDX-License-Identifier: Apache-2.0
// Whole jobs: threads as ranks, simulated ranks, balancers that move subdomains all the time.
#include "parallel/mesher.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "input/shapes.hpp"
#include "size/expression_field.hpp"
#include "size/raster_field.hpp"
#include "size/raster_files.hpp"

namespace mesh2d {
namespace {

using settings = std::map<std::string, std::string>;

struct outcome {
  result done{};
  whole_mesh mesh{};
};

/// The pixels of a picture of the mesh.
std::vector<std::uint8_t> picture_of_job(const settings& settings, const options& asked) {
  nacre::config configuration;
  for (const auto& [name, value] : settings) configuration.set(name, value);
  std::vector<std::uint8_t> pixels;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         plan planned;
                         picture drawn;
                         if (rt.rank().value() == 0) {
                           planned = make_plan(make_shape(asked.input, asked.seed), asked);
                           drawn = picture(frame_of(planned, asked.width));
                         }
                         static_cast<void>(make_mesh(rt, asked, std::move(planned), nullptr, &drawn));
                         if (rt.rank().value() == 0) pixels = drawn.rgb();
                       }),
            0);
  return pixels;
}

outcome run_job(const settings& settings, const options& asked, double area_error = 0) {
  nacre::config configuration;
  for (const auto& [name, value] : settings) configuration.set(name, value);
  outcome match;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    plan planned;
    if (rt.rank().value() == 0) {
      planned = make_plan(make_shape(asked.input, asked.seed), asked);
      planned.twice_area.add(area_error);
    }
    whole_mesh mesh;
    const result result = make_mesh(rt, asked, std::move(planned), &mesh);
    if (rt.rank().value() != 0) return;
    match.done = result;
    match.mesh = std::move(mesh);
  });
  EXPECT_EQ(failed, 0);
  return match;
}

void expect_sound(const outcome& outcome) {
  EXPECT_TRUE(outcome.done.checked);
  EXPECT_EQ(outcome.done.verdict.faults, 0u)
      << (outcome.done.verdict.fault_texts.empty() ? "" : outcome.done.verdict.fault_texts.front());
  EXPECT_EQ(outcome.done.verdict.triangles, outcome.done.counts.triangles);
  EXPECT_EQ(outcome.mesh.triangles.size(), outcome.done.counts.triangles);
}

TEST(Mesher, every_seed_of_a_simulation_makes_a_sound_mesh_while_subdomains_move) {
  const options asked{.input = "pipe", .triangles = 6000, .subdomains = 14, .check = true};
  std::uint64_t moves = 0, splits = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const outcome outcome = run_job({{"transport", "sim"},
                                     {"ranks", std::to_string(1 + seed % 8)},
                                     {"seed", std::to_string(seed)},
                                     {"balancer", "rotate"},
                                     {"balance.rotate.interval", "100us"},
                                     {"check_serialization", seed % 3 == 0 ? "true" : "false"}},
                                    asked);
    expect_sound(outcome);
    moves += outcome.done.moves;
    splits += outcome.done.counts.splits_sent;
  }
  EXPECT_GT(moves, 100u);
  EXPECT_GT(splits, 1000u);
}

TEST(Mesher, threads_make_a_sound_mesh_with_every_balancer) {
  for (const char* balancer : {"none", "lifeline", "diffusion", "rotate"}) {
    const outcome outcome =
        run_job({{"ranks", "3"}, {"workers", "2"}, {"balancer", balancer}},
                {.input = "key", .degrees = 26, .triangles = 8000, .subdomains = 20, .check = true});
    expect_sound(outcome);
    EXPECT_NEAR(static_cast<double>(outcome.done.counts.triangles), 8000, 1000) << balancer;
  }
}

TEST(Mesher, a_deterministic_mesh_is_one_for_all_ranks_workers_and_balancers) {
  const options asked{.input = "comb", .triangles = 5000, .subdomains = 11, .deterministic = true, .check = true};
  const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, asked);
  expect_sound(first);
  EXPECT_GT(first.done.rounds, 1u);
  for (const settings& tuning :
       {settings{{"ranks", "1"}, {"workers", "3"}}, settings{{"ranks", "4"}, {"workers", "1"}, {"balancer", "rotate"}},
        settings{{"transport", "sim"}, {"ranks", "5"}, {"seed", "3"}, {"balancer", "diffusion"}}}) {
    const outcome other = run_job(tuning, asked);
    EXPECT_EQ(other.mesh.points, first.mesh.points);
    EXPECT_EQ(other.mesh.triangles, first.mesh.triangles);
    EXPECT_EQ(other.mesh.subdomains, first.mesh.subdomains);
  }
}

TEST(Mesher, a_deterministic_mesh_of_small_subdomains_is_one_whichever_of_them_is_first) {
  const options asked{.input = "comb", .degrees = 30, .subdomains = 200, .deterministic = true};
  const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, asked);
  for (int seed = 1; seed <= 6; ++seed) {
    const outcome other = run_job({{"transport", "sim"}, {"ranks", "8"}, {"seed", std::to_string(seed)}}, asked);
    EXPECT_EQ(other.mesh.points, first.mesh.points) << "seed " << seed;
    EXPECT_EQ(other.mesh.triangles, first.mesh.triangles) << "seed " << seed;
  }
}

TEST(Mesher, a_picture_of_a_deterministic_mesh_is_one_for_all_ranks_while_subdomains_move) {
  const options asked{.input = "comb", .triangles = 3000, .subdomains = 9, .deterministic = true, .width = 200};
  const std::vector<std::uint8_t> first = picture_of_job({{"ranks", "1"}, {"workers", "1"}}, asked);
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(picture_of_job({{"ranks", "3"}, {"workers", "2"}, {"balancer", "rotate"}}, asked), first);
  EXPECT_EQ(picture_of_job({{"transport", "sim"}, {"ranks", "5"}, {"seed", "7"}, {"balancer", "rotate"}}, asked),
            first);
}

TEST(Mesher, joins_subdomains_at_their_interfaces) {
  const outcome outcome =
      run_job({{"ranks", "2"}}, {.input = "pipe", .triangles = 3000, .subdomains = 7, .check = true});
  expect_sound(outcome);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> sides;
  for (const auto& each : outcome.mesh.triangles) {
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t a = each[k], b = each[(k + 1) % 3];
      ++sides[{std::min(a, b), std::max(a, b)}];
    }
  }
  // Points - sides + triangles of a disc with nine holes; a side that is not shared properly would count twice.
  const auto points = static_cast<long>(outcome.mesh.points.size());
  EXPECT_EQ(points - static_cast<long>(sides.size()) + static_cast<long>(outcome.mesh.triangles.size()), 1 - 9);
  for (const auto& [ends, count] : sides) {
    EXPECT_LE(count, 2);
    EXPECT_TRUE(count == 2 || outcome.mesh.on_boundary[ends.first] + outcome.mesh.on_boundary[ends.second] == 2);
  }
}

/// A raster with one length at the middle of the unit square and another one at its border.
struct raster_file {
  raster_file() {
    std::ofstream(name) << "ncols 3\nnrows 3\nxllcenter 0\nyllcenter 0\ncellsize 0.5\n"
                           "0.1 0.1 0.1\n0.1 0.01 0.1\n0.1 0.1 0.1\n";
  }
  ~raster_file() { std::filesystem::remove(name); }
  raster_file(const raster_file&) = delete;
  raster_file& operator=(const raster_file&) = delete;
  std::string name =
      (std::filesystem::temp_directory_path() / ("mesh2d_sizes_" + std::to_string(getpid()) + ".asc")).string();
};

TEST(Mesher, size_fields_make_one_deterministic_mesh_for_all_ranks_while_subdomains_move) {
  const raster_file raster;
  std::vector<std::string> sizes{raster.name};
  if (has_expressions()) sizes.push_back("0.01 + 0.2 * abs(x - y)");
  for (const std::string& size : sizes) {
    const options asked{.input = "square", .size = size, .subdomains = 9, .deterministic = true, .check = true};
    const outcome first = run_job({{"ranks", "1"}, {"workers", "1"}}, asked);
    expect_sound(first);
    EXPECT_GT(first.done.counts.triangles, 700u) << size;
    for (const settings& tuning :
         {settings{{"ranks", "3"}, {"workers", "2"}, {"balancer", "rotate"}},
          settings{{"transport", "sim"}, {"ranks", "5"}, {"seed", "7"}, {"balancer", "rotate"}}}) {
      const outcome other = run_job(tuning, asked);
      expect_sound(other);
      EXPECT_EQ(other.mesh.points, first.mesh.points) << size;
      EXPECT_EQ(other.mesh.triangles, first.mesh.triangles) << size;
    }
  }
}

TEST(Mesher, triangles_are_as_small_as_the_field_says_and_hardly_smaller) {
  const raster_file raster;
  const outcome outcome =
      run_job({{"ranks", "2"}}, {.input = "square", .size = raster.name, .subdomains = 5, .check = true});
  expect_sound(outcome);
  const raster_field field(read_asc_raster(raster.name));
  double expected = 0;
  for (const auto& each : outcome.mesh.triangles) {
    const point &a = outcome.mesh.points[each[0]], &b = outcome.mesh.points[each[1]], &c = outcome.mesh.points[each[2]];
    const double length = field.length({(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3});
    const double area = cross(b - a, c - a) / 2, bound = std::sqrt(3.0) / 4 * length * length;
    ASSERT_LE(area, bound * (1 + 1e-9));
    expected += area / bound;
  }
  EXPECT_LT(static_cast<double>(outcome.mesh.triangles.size()), 2.2 * expected);
}

TEST(Mesher, a_field_with_a_fault_between_its_samples_ends_the_job_with_a_line) {
  if (!has_expressions()) GTEST_SKIP() << "built without muParser (libmuparser-dev)";
  for (const char* size : {"abs(x - 0.3000001) > 0.002 ? 0.02 : -1", "abs(x - 0.3)"}) {
    for (const std::uint32_t subdomains : {1u, 6u, 16u}) {
      const options asked{.input = "square", .size = size, .subdomains = subdomains, .check = true};
      std::string problem;
      try {
        static_cast<void>(make_plan(make_shape("square", 1), asked));
        const outcome outcome = run_job({{"ranks", "2"}}, asked);
        EXPECT_FALSE(outcome.done.checked);
        problem = outcome.done.problem;
      } catch (const nacre::setup_error& error) {  // when it is planned
        problem = error.what();
      }
      EXPECT_NE(problem.find(std::string("--size '") + size + "'"), std::string::npos) << problem;
      EXPECT_NE(problem.find("(0."), std::string::npos) << problem;
    }
  }
}

TEST(Mesher, without_refinement_the_triangulation_of_the_input_is_one_for_any_subdomains) {
  const pslg input = make_shape("pipe", 1);
  const options alone{.input = "pipe", .no_refine = true, .subdomains = 1, .check = true};
  const outcome whole = run_job({{"ranks", "1"}}, alone);
  expect_sound(whole);
  EXPECT_EQ(whole.mesh.points.size(), input.points.size());
  EXPECT_EQ(whole.mesh.triangles.size(), input.points.size() + 2 * 9 - 2);  // of a polygon with nine holes
  const auto area = [](const whole_mesh& mesh) {
    std::multiset<double> areas;  // subdomains change the order
    for (const auto& [a, b, c] : mesh.triangles) {
      areas.insert(std::abs(cross(mesh.points[b] - mesh.points[a], mesh.points[c] - mesh.points[a])) * 1e6);
    }
    std::multiset<long> rounded;  // and which corner is the first
    for (const double each : areas) rounded.insert(std::lround(each));
    return rounded;
  };
  for (const settings& tuning : {settings{{"ranks", "3"}, {"balancer", "rotate"}},
                                 settings{{"transport", "sim"}, {"ranks", "4"}, {"seed", "3"}}}) {
    options many = alone;
    many.subdomains = 5;
    const outcome parted = run_job(tuning, many);
    expect_sound(parted);
    EXPECT_GT(parted.done.subdomains, 1u);
    EXPECT_EQ(parted.mesh.points.size(), input.points.size());
    EXPECT_EQ(area(parted.mesh), area(whole.mesh));
  }
}

TEST(Mesher, a_wrong_area_fails_the_check) {
  const outcome outcome =
      run_job({{"ranks", "2"}}, {.input = "square", .triangles = 500, .subdomains = 3, .check = true}, 1e-6);
  EXPECT_EQ(outcome.done.verdict.faults, 1u);
}

}  // namespace
}  // namespace mesh2d
