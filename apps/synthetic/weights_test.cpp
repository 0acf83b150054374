// SPDX-License-Identifier: Apache-2.0
// The pattern of heavy objects, and the longest-first schedule against all schedules of a few objects.
#include "weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

namespace synthetic {
namespace {

TEST(weights, a_fifth_of_the_objects_is_heavy_and_lies_on_the_first_two_fifths_of_the_cores) {
  for (const std::uint32_t cores : {1u, 2u, 5u, 10u, 16u, 320u, 1280u, 5600u}) {
    const std::vector<std::uint32_t> heavy = heavy_counts({.cores = cores});
    ASSERT_EQ(heavy.size(), cores);
    EXPECT_EQ(std::accumulate(heavy.begin(), heavy.end(), 0u), 2 * cores);
    if (cores < 5) continue;
    EXPECT_EQ(*std::max_element(heavy.begin(), heavy.end()), 7u) << cores;
    const auto loaded = std::count_if(heavy.begin(), heavy.end(), [](std::uint32_t each) { return each != 0; });
    EXPECT_NEAR(static_cast<double>(loaded), 0.4 * cores, 2) << cores;
  }
}

TEST(weights, at_320_cores_are_spread_as_in_the_paper) {
  const std::vector<double> seconds = weights({.cores = 320});
  ASSERT_EQ(seconds.size(), 3200u);
  const span_of_cores cores = placed(seconds, 320);
  EXPECT_NEAR(cores.least, 324.9, 0.02 * 324.9);
  EXPECT_NEAR(cores.most, 681.8, 0.02 * 681.8);
  EXPECT_NEAR(longest_first(seconds, 320), 422, 0.02 * 422);
  const auto heavy = std::count_if(seconds.begin(), seconds.end(), [](double each) { return each > 50; });
  EXPECT_EQ(heavy, 640);
  EXPECT_EQ(weights({.cores = 320}), seconds);
  EXPECT_NE(weights({.cores = 320, .seed = 2}), seconds);
}

TEST(weights, recorded_costs_are_multiplied_to_what_a_core_shall_have) {
  const std::string name = testing::TempDir() + "costs.json";
  std::ofstream(name) << R"([{"seconds": 1, "bytes": 7}, {"seconds": 3}, 2, {"seconds": 0.5}])";
  EXPECT_EQ(weights({.cores = 2, .recorded = name}), (std::vector<double>{1, 3, 2, 0.5}));
  EXPECT_EQ(weights({.cores = 2, .recorded = name, .core_seconds = 6.5}), (std::vector<double>{2, 6, 4, 1}));
  EXPECT_EQ(placed({1, 3, 2, 0.5, 7}, 2).most, 7.5);
  EXPECT_EQ(placed({1, 3, 2, 0.5, 7}, 2).least, 6);
  for (const char* wrong : {"", "{}", "[]", "[1, -2]", R"([{"second": 1}])", "[1, 2"}) {
    std::ofstream(name) << wrong;
    EXPECT_THROW((void)weights({.cores = 2, .recorded = name}), nacre::setup_error) << wrong;
  }
}

double best_makespan(const std::vector<double>& works, std::size_t machines) {
  std::vector<double> load(machines, 0);
  double best = 1e300;
  const std::function<void(std::size_t)> place = [&](std::size_t next) {
    if (next == works.size()) {
      best = std::min(best, *std::max_element(load.begin(), load.end()));
      return;
    }
    for (double& each : load) {
      each += works[next];
      if (each < best) place(next + 1);
      each -= works[next];
    }
  };
  place(0);
  return best;
}

TEST(longest_first, is_never_better_than_the_best_schedule_nor_worse_than_grahams_bound) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    nacre::rng random(seed);
    const auto cores = static_cast<std::uint32_t>(1 + random.below(3));
    std::vector<double> works(1 + random.below(8));
    for (double& each : works) each = 0.1 + random.uniform();
    const double best = best_makespan(works, cores);
    const double got = longest_first(works, cores);
    EXPECT_GE(got, best - 1e-12) << "seed " << seed;
    EXPECT_LE(got, (4.0 / 3 - 1.0 / (3 * cores)) * best + 1e-12) << "seed " << seed;
  }
  EXPECT_DOUBLE_EQ(longest_first({3, 3, 2, 2, 2}, 2), 7);  // Graham's own example, where 6 is possible
}

}  // namespace
}  // namespace synthetic
