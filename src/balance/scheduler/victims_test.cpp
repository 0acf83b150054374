// SPDX-License-Identifier: Apache-2.0
// The order in which a worker visits its victims.
#include "balance/scheduler/victims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace nacre {
namespace {

/// Eight processors: two of a core, two cores that share a cache, two caches of a package.
std::vector<std::vector<std::uint8_t>> eight_processors() {
  std::vector<std::vector<std::uint8_t>> levels(8, std::vector<std::uint8_t>(8));
  for (unsigned a = 0; a < 8; ++a) {
    for (unsigned b = 0; b < 8; ++b) levels[a][b] = a / 2 == b / 2 ? 0 : a / 4 == b / 4 ? 1 : 2;
  }
  return levels;
}

std::vector<std::uint32_t> visited(victims& all, std::uint32_t step, rng& random) {
  std::vector<std::uint32_t> seen;
  EXPECT_EQ(all.visit(worker_id(step), random,
                      [&](std::uint32_t victim) {
                        seen.push_back(victim);
                        return static_cast<work*>(nullptr);
                      }),
            nullptr);
  return seen;
}

TEST(victims, are_all_the_others_nearest_first_wherever_the_threads_run) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    rng random(seed);
    std::uint32_t running = 0;
    std::vector<std::uint32_t> place(6);
    const auto levels = eight_processors();
    victims all(6, std::make_shared<nearness>(levels, [&] { return place[running]; }));
    for (std::uint32_t& each : place) each = static_cast<std::uint32_t>(random.below(9));  // the ninth is not known
    for (running = 0; running < 6; ++running) static_cast<void>(visited(all, running, random));
    running = 2;
    const std::vector<std::uint32_t> seen = visited(all, 2, random);
    std::vector<std::uint32_t> sorted = seen;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, (std::vector<std::uint32_t>{0, 1, 3, 4, 5}));
    const auto level = [&](std::uint32_t victim) {
      return place[2] < 8 && place[victim] < 8 ? levels[place[2]][place[victim]] : 2;
    };
    for (std::size_t n = 1; n < seen.size(); ++n) EXPECT_LE(level(seen[n - 1]), level(seen[n])) << "seed " << seed;
  }
}

TEST(victims, begin_at_a_random_one_of_those_that_are_equally_near) {
  rng random(1);
  victims all(5, nullptr);
  std::vector<int> first(5);
  for (int n = 0; n < 1000; ++n) ++first[visited(all, 4, random).front()];
  for (int thread_index = 0; thread_index < 4; ++thread_index) EXPECT_GT(first[thread_index], 100) << thread_index;
  EXPECT_EQ(first[4], 0) << "oneself";
}

}  // namespace
}  // namespace nacre
