// SPDX-License-Identifier: Apache-2.0
// Steps on several ranks: one state for any of them, and what it conserves.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <nacre/nacre.hpp>

#include "output/job.hpp"
#include "output/projection.hpp"
#include "parallel/evolution.hpp"

namespace nbody {
namespace {

using settings = std::vector<std::pair<std::string, std::string>>;

job_result job_of(const settings& settings, options asked) {
  nacre::config configuration;
  bool simulated = false;
  for (const auto& [name, value] : settings) {
    configuration.set(name, value);
    simulated = simulated || value == "sim";
  }
  asked.quiet = true;
  job_result done;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         const job_result own_result = run_job(rt, asked, simulated);
                         if (rt.rank().value() == 0) done = own_result;
                       }),
            0);
  return done;
}

result run(const settings& settings, const options& asked) {
  const job_result done = job_of(settings, asked);
  EXPECT_EQ(done.problem, "");
  return done.outcome;
}

options small(std::uint32_t rungs = 0) {
  options asked;
  asked.model = {.kind = model_kind::collision, .bodies = 1500, .seed = 1};
  asked.steps = 2, asked.step = 0.05, asked.rungs = rungs, asked.soft.length = 0.03;
  return asked;
}

TEST(Evolution, has_one_state_on_any_ranks_and_workers) {
  const std::uint64_t expected = run({{"ranks", "1"}, {"workers", "1"}}, small()).digest;
  for (const char* ranks : {"2", "3", "8"}) {
    EXPECT_EQ(run({{"ranks", ranks}, {"workers", "2"}}, small()).digest, expected) << ranks;
  }
  EXPECT_EQ(run({{"ranks", "5"}, {"transport", "sim"}, {"balancer", "rotate"}}, small()).digest, expected);
}

TEST(Evolution, has_one_state_with_own_steps_of_bodies) {
  const std::uint64_t expected = run({{"ranks", "1"}, {"workers", "1"}}, small(6)).digest;
  for (const balance_kind balance : {balance_kind::none, balance_kind::cut}) {
    options asked = small(6);
    asked.balance = balance;
    EXPECT_EQ(run({{"ranks", "4"}, {"transport", "sim"}}, asked).digest, expected);
    EXPECT_EQ(run({{"ranks", "3"}, {"workers", "1"}, {"balancer", "random"}}, asked).digest, expected);
  }
}

TEST(Evolution, has_one_state_where_pieces_keep_their_part_of_space) {
  options asked = small(3);
  asked.steps = 3;
  const std::uint64_t expected = run({{"ranks", "1"}, {"workers", "1"}}, asked).digest;
  asked.balance = balance_kind::bound;
  for (const std::uint32_t steps : {0u, 1u}) {
    asked.recut_steps = steps;
    EXPECT_EQ(run({{"ranks", "3"}, {"workers", "1"}}, asked).digest, expected) << steps;
  }
}

/// On simulated ranks, which take the time of their operations: the middle of the sphere has the shortest steps.
TEST(Evolution, takes_less_time_where_ranks_with_dearer_bodies_have_fewer) {
  options asked = small(6);
  asked.model = {.kind = model_kind::hernquist, .bodies = 8000, .seed = 1};
  asked.steps = 8, asked.soft.length = 0.01, asked.pieces = 64;
  const auto seconds = [&](balance_kind balance) {
    asked.balance = balance;
    return run({{"transport", "sim"}, {"ranks", "4"}, {"balancer", "none"}}, asked).seconds;
  };
  const double none = seconds(balance_kind::none);
  EXPECT_LT(seconds(balance_kind::ranges), 0.97 * none);
  EXPECT_LT(seconds(balance_kind::cut), 0.97 * none);
}

TEST(Evolution, has_one_state_whether_parts_are_pushed_or_asked_for) {
  const std::uint64_t expected = run({{"ranks", "1"}, {"workers", "1"}}, small(4)).digest;
  options asked = small(4);
  for (const essential_kind kind : {essential_kind::push, essential_kind::pull}) {
    asked.essential = kind;
    for (const char* ranks : {"2", "7"}) {
      EXPECT_EQ(run({{"ranks", ranks}, {"workers", "2"}}, asked).digest, expected) << ranks;
    }
    for (const char* balancer :
         {"none", "random", "rotate"}) {  // pieces that have moved before they walk ask for parts
      EXPECT_EQ(run({{"ranks", "4"}, {"transport", "sim"}, {"balancer", balancer}}, asked).digest, expected)
          << balancer;
    }
  }
}

TEST(Evolution, goes_on_from_an_image_on_other_ranks) {
  options asked = small(5);
  asked.steps = 4;
  const std::uint64_t expected = run({{"ranks", "1"}, {"workers", "1"}}, asked).digest;
  const std::string folder = testing::TempDir() + "nbody_images." + std::to_string(::getpid());
  options first = asked;
  first.steps = 2;
  static_cast<void>(run({{"ranks", "3"}, {"checkpoint.folder", folder}, {"checkpoint.every", "1ns"}}, first));
  EXPECT_EQ(run({{"ranks", "2"}, {"restore", folder}}, asked).digest, expected);
  std::filesystem::remove_all(folder);
}

TEST(Evolution, goes_on_from_no_image_with_options_that_lead_to_another_state) {
  options asked = small(3);
  const std::string folder = testing::TempDir() + "nbody_other_options." + std::to_string(::getpid());
  static_cast<void>(run({{"ranks", "1"}, {"checkpoint.folder", folder}, {"checkpoint.every", "1ns"}}, asked));
  const auto problem_with = [&](const auto& change) {
    options changed = asked;
    changed.steps = 4;
    change(changed);
    return job_of({{"ranks", "2"}, {"restore", folder}}, changed).problem;
  };
  const std::string without_rungs = problem_with([](options& now) { now.rungs = 0; });
  EXPECT_NE(without_rungs.find("a run with --rungs 3, and now --rungs is 0"), std::string::npos) << without_rungs;
  const std::string longer = problem_with([](options& now) { now.step = 0.1; });
  EXPECT_NE(longer.find("a run with --step 0.05, and now --step is 0.1"), std::string::npos) << longer;
  EXPECT_NE(problem_with([](options& now) { now.soft.length = 0.02; }), "");
  EXPECT_NE(problem_with([](options& now) { now.efficiency = 0.02; }), "");
  EXPECT_NE(problem_with([](options& now) { now.model.bodies = 3000; }), "");
  EXPECT_NE(problem_with([](options& now) { now.error = 0; }), "");
  EXPECT_EQ(problem_with([](options& now) { now.balance = balance_kind::none, now.pieces = 3, now.samples = 5; }), "");
  std::filesystem::remove_all(folder);
}

TEST(Evolution, loses_no_output_with_one_that_cannot_be_written) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  options asked = small();
  asked.model.bodies = 100;
  asked.out = testing::TempDir() + "nbody_kept." + std::to_string(::getpid()) + ".txt", asked.json = "/dev/full";
  const job_result done = job_of({{"ranks", "2"}}, asked);
  EXPECT_EQ(done.problem, "");
  ASSERT_EQ(done.unwritten.size(), 1u);
  EXPECT_NE(done.unwritten[0].find("cannot write /dev/full"), std::string::npos) << done.unwritten[0];
  EXPECT_EQ(read_snapshot(asked.out).bodies.size(), 100u);
  std::filesystem::remove(asked.out);
}

TEST(Evolution, warns_of_a_body_so_far_away_that_all_others_share_a_cell) {
  for (const double distance : {10.0, 1e8}) {
    snapshot read{.bodies = bodies_of_model({.kind = model_kind::plummer, .bodies = 1500, .seed = 1}, 0, 1500)};
    read.bodies[7].place = {distance, 0, 0}, read.bodies[7].mass = 1e-12;
    options asked;
    asked.model.kind = model_kind::file;
    std::string line;
    nacre::config configuration;
    configuration.set("ranks", "1");
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           evolution_state state;
                           evolution bodies(rt, asked, rt.create_group<store>(), false, state);
                           bodies.make_pieces(read.bodies.size());
                           bodies.begin(read);
                           line = bodies.warning();
                         }),
              0);
    EXPECT_EQ(line.find(" of 1500 bodies share one cell") != std::string::npos, distance > 10) << line;
  }
}

TEST(Evolution, has_radii_and_pictures_in_any_unit_of_length) {
  const model_settings model{.kind = model_kind::plummer, .bodies = 500, .seed = 1};
  struct view {
    std::array<double, 5> radii{};
    std::vector<std::uint64_t> picture{};
  };
  const auto view_of = [&](double unit) {
    view seen;
    options asked;
    asked.model.kind = model_kind::file, asked.pixels = 32;
    nacre::config configuration;
    configuration.set("ranks", "1");
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           snapshot read{.bodies = bodies_of_model(model, 0, 500)};
                           for (body& each : read.bodies) each.place = unit * each.place;
                           evolution_state state;
                           evolution bodies(rt, asked, rt.create_group<store>(), false, state);
                           bodies.make_pieces(read.bodies.size());
                           bodies.begin(std::move(read));
                           seen = {state.last.radii, bodies.picture()};
                         }),
              0);
    return seen;
  };
  const view expected = view_of(1);
  EXPECT_NEAR(expected.radii[2], 1.3, 0.2);
  for (const double unit : {1e16, 1e-9, 1e40}) {
    const view seen = view_of(unit);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(seen.radii[k] / unit / expected.radii[k], 1, 1e-3) << unit;
    EXPECT_GT(std::accumulate(seen.picture.begin(), seen.picture.end(), 0.0), 0.6 * whole_mass) << unit;
  }
}

TEST(Evolution, keeps_energy_and_momentum) {
  options asked;
  asked.model = {.kind = model_kind::plummer, .bodies = 1000, .seed = 5};
  asked.steps = 40, asked.step = 0.02, asked.soft.length = 0.05;
  const result result = run({{"workers", "1"}}, asked);
  EXPECT_LT(result.energy_drift, 2e-4);
  EXPECT_GT(result.energy_drift, 0);
  EXPECT_LT(result.momentum_drift, 1e-5);
}

TEST(Evolution, with_direct_sums_is_that_of_the_tree) {
  options asked = small();
  asked.model.bodies = 300, asked.check = true, asked.error = 0;
  const result direct = run({{"workers", "1"}}, asked);
  EXPECT_LT(direct.forces.root_mean_square, 1e-14);
  EXPECT_EQ(run({{"ranks", "3"}, {"transport", "sim"}}, asked).digest, direct.digest);
  asked.error = 1e-5;
  const result tree = run({{"workers", "1"}}, asked);
  EXPECT_NEAR(tree.energy_drift, direct.energy_drift, 1e-5);
  EXPECT_LT(tree.forces.root_mean_square, 2e-5);  // in the middle between the spheres forces cancel
}

}  // namespace
}  // namespace nbody
