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
#include "parallel/evolution.hpp"
#include "pictures/png_file.hpp"

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
                           const job_result result = run_job(rt, asked, false);
                           if (rt.rank().value() == 0) done = result;
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

TEST_F(whole_job, says_where_bodies_want_shorter_steps_than_there_are) {
  for (const std::uint32_t rungs : {1u, 12u}) {
    options asked;
    asked.model = {.kind = model_kind::plummer, .bodies = 300, .seed = 1};
    asked.step = 0.1, asked.soft.length = 0.001, asked.rungs = rungs;
    std::string line;
    nacre::config configuration;
    configuration.set("ranks", "1");
    EXPECT_EQ(nacre::run(configuration,
                         [&](nacre::runtime& rt) {
                           evolution_state state;
                           evolution bodies(rt, asked, rt.create_group<store>(), false, state);
                           bodies.make_pieces(0);
                           bodies.begin({});
                           line = bodies.rung_warning();
                         }),
              0);
    EXPECT_EQ(line.find(" of 300 bodies want a shorter step than the shortest, 0.05,") != std::string::npos, rungs == 1)
        << line;
  }
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

TEST_F(whole_job, keeps_no_pictures_in_images) {
  if (!pictures::has_png()) GTEST_SKIP() << "built without libpng";
  const std::string file = folder + "/bodies.txt", images = folder + "/images";
  write_snapshot(file, {.bodies = bodies_of_model({.kind = model_kind::plummer, .bodies = 100, .seed = 1}, 0, 100)});
  const auto bytes_in = [](const std::string& place) {
    std::uintmax_t sum = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(place)) {
      if (each.is_regular_file()) sum += each.file_size();
    }
    return sum;
  };
  const auto with_pictures = [&](const std::string& prefix, std::uint32_t steps) {
    options asked = steps_of(file, steps);
    asked.pictures = prefix, asked.picture_steps = 1, asked.pixels = 256;
    return asked;
  };
  std::filesystem::create_directories(folder + "/seen");
  const job_result first =
      end_of(with_pictures(folder + "/seen/a", 20), {{"checkpoint.folder", images}, {"checkpoint.every", "1ns"}});
  EXPECT_TRUE(first.unwritten.empty());
  static_cast<void>(end_of(steps_of(file, 20), {{"checkpoint.folder", images + "0"}, {"checkpoint.every", "1ns"}}));
  EXPECT_LT(bytes_in(images), bytes_in(images + "0") + 2000);
  const std::string animation = folder + "/seen/a.png";
  const auto size = std::filesystem::file_size(animation);
  std::filesystem::remove(animation);
  EXPECT_TRUE(end_of(with_pictures(folder + "/seen/a", 20), {{"restore", images}}).unwritten.empty());
  EXPECT_EQ(std::filesystem::file_size(animation), size);
  std::filesystem::remove(folder + "/seen/a-000004.png");
  EXPECT_TRUE(end_of(with_pictures(folder + "/seen/a", 20), {{"restore", images}}).unwritten.empty());
  EXPECT_LT(std::filesystem::file_size(animation), size);
}

}  // namespace
}  // namespace nbody
