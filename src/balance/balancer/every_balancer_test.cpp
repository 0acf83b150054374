// SPDX-License-Identifier: Apache-2.0
// The promises of all built-in balancers, on small machines, against the best possible schedule.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/registry.hpp"
#include "base/sanitized.hpp"

namespace nacre::balance {
namespace {

enum class promise : std::uint8_t { kept, not_made };

struct policy {
  const char* name;
  double slack;       // seconds beyond Graham's bound for list schedules, when rank 0 has all the work at first
  promise stable;     // no message while all ranks work
  promise silent;     // no message while no rank works, after a while
  promise converges;  // no move once the load is balanced
  promise spreads;    // handlers hear that work is wanted
  friend void PrintTo(const policy& p, std::ostream* out) { *out << p.name; }
};

constexpr policy policies[] = {
    {"steal", 0.5e-3, promise::kept, promise::not_made, promise::kept, promise::kept},
    {"adaptive", 0.5e-3, promise::kept, promise::kept, promise::kept, promise::kept},
    {"lifeline", 0.5e-3, promise::kept, promise::kept, promise::kept, promise::kept},
    {"hierarchical", 3e-3, promise::kept, promise::not_made, promise::kept, promise::kept},
    {"diffusion", 2e-3, promise::kept, promise::not_made, promise::kept, promise::kept},
    {"gossip", 2e-3, promise::kept, promise::not_made, promise::kept, promise::kept},
    {"greedy_refine", 2e-3, promise::not_made, promise::not_made, promise::kept, promise::not_made},
    {"share", 0.5e-3, promise::not_made, promise::kept, promise::kept, promise::kept},
    {"master_worker", 0.5e-3, promise::kept, promise::kept, promise::kept, promise::not_made},
    {"rotate", 10e-3, promise::kept, promise::kept, promise::not_made, promise::not_made},
    {"random", 10e-3, promise::kept, promise::kept, promise::not_made, promise::not_made},
};

std::unique_ptr<balancer> make(const char* name) {
  config configuration{{"balance", balance_options()}};
  configuration.set("balance.hierarchical.group", "2");
  return make_balancer(name, configuration);
}

double total(const std::vector<double>& works) { return std::accumulate(works.begin(), works.end(), 0.0); }

class every_balancer : public testing::TestWithParam<policy> {
 protected:
  [[nodiscard]] cluster_options machine(std::uint64_t seed, std::uint32_t ranks) const {
    return {.seed = seed, .ranks = ranks, .make = [name = GetParam().name] { return make(name); }};
  }
};

TEST_P(every_balancer, ends_all_work_soon_and_loses_none) {
  for (std::uint64_t seed = 1; seed <= (tests::sanitized ? 40 : 2000); ++seed) {
    rng random(seed);
    cluster_options options = machine(seed, static_cast<std::uint32_t>(2 + random.below(3)));
    options.step = 20e-6;
    options.workers = static_cast<std::uint32_t>(1 + random.below(2));
    const std::uint32_t machines = options.ranks * options.workers;
    cluster all(options);
    std::vector<double> works(1 + random.below(7));
    for (double& each : works) {
      each = 1e-3 + 9e-3 * random.uniform();
      all.add(0, each);
    }
    all.run(1);
    ASSERT_FALSE(all.work_left()) << "seed " << seed;
    EXPECT_NEAR(all.work_done, total(works), 1e-9) << "seed " << seed;
    EXPECT_FALSE(all.moved_a_running_object) << "seed " << seed;
    const double graham = (2 - 1.0 / machines) * best_makespan(works, machines);
    EXPECT_LE(all.now(), graham + GetParam().slack) << "seed " << seed;
  }
}

TEST_P(every_balancer, ends_work_that_lies_anywhere) {
  for (std::uint64_t seed = 1; seed <= (tests::sanitized ? 40 : 1000); ++seed) {
    rng random(seed);
    cluster_options options = machine(seed, static_cast<std::uint32_t>(1 + random.below(12)));
    options.step = 20e-6;
    cluster all(options);
    double total = 0;
    for (std::uint64_t left = random.below(40); left != 0; --left) {
      const double work = 1e-3 * random.uniform();
      all.add(static_cast<std::uint32_t>(random.below(options.ranks)), work, random.below(2) == 0 ? 1e9 : 100e-6);
      total += work;
    }
    all.run(1);
    ASSERT_FALSE(all.work_left()) << "seed " << seed;
    EXPECT_NEAR(all.work_done, total, 1e-9) << "seed " << seed;
    EXPECT_FALSE(all.moved_a_running_object) << "seed " << seed;
  }
}

TEST_P(every_balancer, survives_any_bytes_from_anybody) {
  for (std::uint64_t seed = 1; seed <= (tests::sanitized ? 60 : 300); ++seed) {
    rng random(seed);
    cluster_options options = machine(seed, 3);
    options.step = 20e-6;
    options.forge = true;
    cluster all(options);
    for (int n = 0; n < 9; ++n) all.add(static_cast<std::uint32_t>(random.below(3)), 2e-3);
    all.run(1);
    ASSERT_FALSE(all.work_left()) << "seed " << seed;
    EXPECT_NEAR(all.work_done, 18e-3, 1e-9) << "seed " << seed;
    EXPECT_FALSE(all.moved_a_running_object);
  }
}

TEST_P(every_balancer, is_stable_and_silent_where_it_says_so) {
  cluster busy(machine(1, 8));
  for (std::uint32_t n = 0; n < 16; ++n) busy.add(n % 8, 0.1);
  busy.run(0.099);
  EXPECT_EQ(busy.messages == 0, GetParam().stable == promise::kept) << busy.messages << " messages";

  cluster_options options = machine(2, 8);
  options.frozen = true;
  cluster idle(options);
  idle.run(0.5);
  const std::uint64_t previous = idle.messages;
  idle.run(0.5);
  EXPECT_EQ(idle.messages == previous, GetParam().silent == promise::kept);
  EXPECT_LE(static_cast<double>(idle.messages - previous), 0.5 * 8 * 4000) << "a message of every rank each 250 us";
}

TEST_P(every_balancer, moves_nothing_once_balanced) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster all(machine(seed, 4));
    for (std::uint32_t n = 0; n < 16; ++n) all.add(n % 4, 20e-3);
    all.run(0.075);
    EXPECT_EQ(all.migrations == 0, GetParam().converges == promise::kept) << "seed " << seed;
  }
}

TEST_P(every_balancer, work_that_splits_when_wanted_reaches_all_ranks) {
  if (GetParam().spreads == promise::not_made) return;
  for (const std::uint32_t ranks : {2u, 7u, 16u}) {
    cluster all(machine(ranks, ranks));
    all.add(0, 0.4, 0.5e-3);
    all.run(1);
    ASSERT_FALSE(all.work_left());
    EXPECT_LE(all.now(), 1.25 * 0.4 / ranks + 10e-3) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(built_in, every_balancer, testing::ValuesIn(policies),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace nacre::balance
