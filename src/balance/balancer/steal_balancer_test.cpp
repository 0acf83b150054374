// SPDX-License-Identifier: Apache-2.0
// Stealing on small machines, against the best schedule there is and against its own bounds.
#include "balance/balancer/steal_balancer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"

namespace nacre::balance {
namespace {

std::unique_ptr<balancer> stealing() { return std::make_unique<steal_balancer>(steal_balancer::options{}); }

/// Objects of random lengths on random ranks, or all on one.
std::vector<double> scatter(cluster& machine, std::uint32_t ranks, rng& random) {
  std::vector<double> works(1 + random.below(8));
  const bool heap = random.below(2) == 0;
  for (double& each : works) {
    each = 5e-3 + 45e-3 * random.uniform();
    machine.add(heap ? 0 : static_cast<std::uint32_t>(random.below(ranks)), each);
  }
  return works;
}

TEST(steal_balancer, ends_as_soon_as_a_greedy_schedule_would) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    rng random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(2));
    const auto workers = static_cast<std::uint32_t>(1 + random.below(2));
    cluster machine({.seed = seed, .ranks = ranks, .workers = workers, .forge = seed % 4 == 0, .make = stealing});
    const std::vector<double> works = scatter(machine, ranks, random);
    const std::size_t machines = std::size_t{ranks} * workers;
    const double best = best_makespan(works, machines);
    machine.run(10);
    ASSERT_FALSE(machine.work_left()) << "seed " << seed;
    const double greedy = (2 - 1.0 / static_cast<double>(machines)) * best;  // Graham, 1966
    std::printf("%f %f\n", machine.now() / best, (machine.now() - greedy) * 1e3);
    EXPECT_LE(machine.now(), greedy + 5e-3) << "seed " << seed;
    EXPECT_FALSE(machine.moved_a_running_object);
    EXPECT_LE(machine.moves_of_one_object_max, 2u) << "handed around, seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::balance
