// SPDX-License-Identifier: Apache-2.0
// Steps of snapshots, and the time in their files.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "parallel/simulation.hpp"

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
