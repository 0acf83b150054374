// SPDX-License-Identifier: Apache-2.0
// Whole runs with files.
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>
#include <nacre/nacre.hpp>

#include "output/job.hpp"
#include "output/snapshot.hpp"

namespace nbody {
namespace {

struct whole_job : testing::Test {
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] static job_result end_of(const options& asked,
                                         const std::vector<std::pair<std::string, std::string>>& more = {}) {
    nacre::config configuration;
    configuration.set("ranks", "2");
    for (const auto& [name, value] : more) configuration.set(name, value);
    job_result done;
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           const job_result own = run_job(rt, asked, false);
                           if (rt.rank().value() == 0) done = own;
                         }),
              0);
    return done;
  }
  /// Steps of the bodies of a file.
  [[nodiscard]] static options steps_of(const std::string& file, std::uint32_t steps) {
    options asked;
    asked.model.kind = model_kind::file, asked.model_name = file;
    asked.steps = steps, asked.soft.length = 0.05, asked.quiet = true;
    return asked;
  }

  std::string folder = testing::TempDir() + "nbody_job." + std::to_string(::getpid());
};

TEST_F(whole_job, has_the_constant_of_gravity_of_the_units_of_its_file) {
  if (!has_hdf5()) GTEST_SKIP() << "built without libhdf5";
  const std::string file = folder + "/first.hdf5", images = folder + "/images";
  snapshot content{.bodies = bodies_of_model({.kind = model_kind::plummer, .bodies = 300, .seed = 1}, 0, 300)};
  for (body& each : content.bodies) each.velocity = 2 * each.velocity;
  content.units = {1, 4 / 6.6743e-8, 1};
  write_snapshot(file, content);
  options told = steps_of(file, 6);
  told.gravity = gravity_of(content.units), told.has_gravity = true;
  EXPECT_NEAR(told.gravity, 4, 1e-12);
  const std::uint64_t expected = end_of(told).outcome.digest;
  EXPECT_EQ(end_of(steps_of(file, 6)).outcome.digest, expected);
  told.gravity = 1;
  EXPECT_NE(end_of(told).outcome.digest, expected);

  options first = steps_of(file, 3), last = steps_of(file, 6);
  last.out = folder + "/last.hdf5";
  static_cast<void>(end_of(first, {{"checkpoint.folder", images}, {"checkpoint.every", "1ns"}}));
  const job_result done = end_of(last, {{"restore", images}});
  EXPECT_EQ(done.problem, "");
  EXPECT_EQ(done.outcome.digest, expected);
  EXPECT_EQ(gravity_of(read_snapshot(last.out).units), gravity_of(content.units));
}

TEST_F(whole_job, does_not_go_back) {
  const std::string file = folder + "/bodies.txt", images = folder + "/images";
  write_snapshot(file, {.bodies = bodies_of_model({.kind = model_kind::plummer, .bodies = 100, .seed = 1}, 0, 100)});
  const std::vector<std::pair<std::string, std::string>> restored{{"restore", images}};
  static_cast<void>(end_of(steps_of(file, 5), {{"checkpoint.folder", images}, {"checkpoint.every", "1ns"}}));
  const std::string problem = end_of(steps_of(file, 3), restored).problem;
  EXPECT_NE(problem.find("the image is of step 5, and --steps is 3"), std::string::npos) << problem;
  EXPECT_EQ(end_of(steps_of(file, 5), restored).problem, "");
}

}  // namespace
}  // namespace nbody
