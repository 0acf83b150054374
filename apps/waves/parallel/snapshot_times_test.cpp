// SPDX-License-Identifier: Apache-2.0
// Steps of snapshots, and the time in their files.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/simulation.hpp"
#include "setup/description.hpp"

namespace waves {
namespace {

TEST(snapshot_times, are_next_to_multiples_of_the_interval) {
  for (const double interval : {1.0, 1.2, 1.5, 2.5, 3.7, 11.0}) {
    const snapshot_times times{interval};
    int number = 0;
    for (int step = 0; step < 200; ++step) {
      if (times.step_of(number + 1) == step) ++number;
      EXPECT_EQ(times.number_at(step), number) << interval << " at step " << step;
    }
    EXPECT_NEAR(number * interval, 199, interval);
    for (int each = 1; each <= number; ++each) EXPECT_LE(std::abs(times.step_of(each) - each * interval), 0.5);
  }
  EXPECT_EQ(snapshot_times{}.number_at(100), 0);
}

TEST(snapshot_files, have_colours_beside_the_greatest_displacement_so_far) {
  description asked;
  asked.h = 1;
  asked.time = 20;
  asked.size = {15, 15, 15};
  asked.layers = 0;
  asked.material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
  asked.initial.random = true;
  const auto subject = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  std::vector<double> strengths, greatest;
  observers watching;
  watching.snapshots.interval = 2;
  watching.on_snapshot = [&](int, const plane_points& plane) {
    strengths.push_back(greatest_in(plane));
    greatest.push_back(plane.greatest);
  };
  nacre::config configuration;
  configuration.set("ranks", "1");
  EXPECT_EQ(
      nacre::run(configuration,
                 [&](nacre::runtime& rt) { static_cast<void>(simulate(rt, {subject}, {.patches = 2}, watching)); }),
      0);
  ASSERT_GT(strengths.size(), 5u);
  double most = 0;
  std::size_t fainter = 0;
  for (std::size_t k = 0; k < strengths.size(); ++k) {
    most = std::max(most, strengths[k]);
    EXPECT_EQ(greatest[k], most);
    fainter += strengths[k] < most ? 1 : 0;
  }
  EXPECT_GT(fainter, 0u);
}

TEST(snapshot_files, tell_their_time) {
  plane_points plane;
  plane.columns = plane.rows = 1;
  plane.values = {1, 2, 3};
  plane.time = 0.25;
  const std::string file = vti_bytes(plane);
  EXPECT_NE(file.find("<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">0.25</"),
            std::string::npos)
      << file;
}

}  // namespace
}  // namespace waves
