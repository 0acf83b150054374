// SPDX-License-Identifier: Apache-2.0
// Diffusion on small machines, against the best possible placement and against its own bounds.
#include "balance/balancer/diffusion_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>

#include "balance/balancer/balancer_test_cluster.hpp"
#include "balance/balancer/balancer_test_host.hpp"
#include "base/sanitized.hpp"

namespace nacre::balance {
namespace {

std::unique_ptr<balancer> diffusing() { return std::make_unique<diffusion_balancer>(diffusion_balancer::options{}); }

double sum(const std::vector<double>& loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }

std::vector<double> rank_loads(const cluster& machine, std::uint32_t ranks) {
  std::vector<double> result;
  for (std::uint32_t r = 0; r < ranks; ++r) result.push_back(sum(machine.loads(r)));
  return result;
}

/// The bound that moving single objects reaches: no rank is above another by more than its lightest object / 0.9.
void expect_spread(const cluster& machine, std::uint32_t ranks) {
  const std::vector<double> loads = rank_loads(machine, ranks);
  const double least = *std::min_element(loads.begin(), loads.end());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::vector<double> values = machine.loads(r);
    if (values.empty()) continue;
    EXPECT_LE(loads[r] - least, *std::min_element(values.begin(), values.end()) / 0.9 + 1e-9) << "rank " << r;
  }
}

TEST(diffusion_balancer, spreads_standing_load_until_no_move_helps_and_then_stops) {
  for (std::uint64_t seed = 1; seed <= tests::rounds_in_one_thread(150); ++seed) {
    rng random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(3));
    cluster machine({.seed = seed, .ranks = ranks, .step = 20e-6, .frozen = true, .make = diffusing});
    std::vector<double> works(1 + random.below(9));
    for (double& each : works) {
      each = std::floor(1 + 20 * random.uniform());
      machine.add(static_cast<std::uint32_t>(random.below(ranks)), each);
    }
    machine.run(0.4);
    EXPECT_LT(machine.last_migration, 0.3) << "still moving, seed " << seed;
    expect_spread(machine, ranks);
    const std::vector<double> loads = rank_loads(machine, ranks);
    EXPECT_DOUBLE_EQ(sum(loads), sum(works)) << "nothing is lost";
    // A rank at the top has one object, which the best placement cannot divide, or all others are within 0.9 / 2.
    const double bound = ranks / (1 + (1 - 1 / 1.8) * (ranks - 1));
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()), bound * best_makespan(works, ranks) + 1e-9);
    EXPECT_LE(machine.migrations, 3 * works.size()) << "seed " << seed;
  }
}

/// A rank that was given a large object must not ask for more while that object is in flight.
TEST(diffusion_balancer, counts_what_is_on_its_way_so_that_large_objects_come_to_rest_too) {
  for (std::uint64_t seed = 1; seed <= tests::rounds_in_one_thread(40); ++seed) {
    rng random(seed);
    cluster machine(
        {.seed = seed, .ranks = 8, .step = 20e-6, .object_latency_max = 3e-3, .frozen = true, .make = diffusing});
    const std::uint64_t objects = 40;
    for (std::uint64_t n = 0; n < objects; ++n) machine.add(0, std::floor(1 + 20 * random.uniform()));
    machine.run(0.5);
    EXPECT_LT(machine.last_migration, 0.35) << "still moving, seed " << seed;
    EXPECT_LE(machine.migrations, 4 * objects) << "seed " << seed;
    expect_spread(machine, 8);
  }
}

TEST(diffusion_balancer, moves_nothing_when_the_load_is_even) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster machine({.seed = seed, .ranks = 6, .frozen = true, .make = diffusing});
    for (std::uint32_t n = 0; n < 18; ++n) machine.add(n % 6, 3);
    machine.run(0.2);
    EXPECT_EQ(machine.migrations, 0u);
  }
}

TEST(diffusion_balancer, sends_nothing_while_no_rank_is_underloaded) {
  cluster machine({.ranks = 8, .make = diffusing});
  for (std::uint32_t n = 0; n < 24; ++n) machine.add(n % 8, 0.1 * (1 + n % 8));
  machine.run(0.29);
  EXPECT_EQ(machine.messages, 0u);
}

TEST(diffusion_balancer, finds_the_one_loaded_rank_among_many_by_changing_neighbours) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    cluster machine({.seed = seed, .ranks = 40, .step = 50e-6, .frozen = true, .make = diffusing});
    for (std::uint32_t n = 0; n < 200; ++n) machine.add(17, 1 + n % 3);
    machine.run(0.3);
    expect_spread(machine, 40);
    EXPECT_LT(machine.last_migration, 0.1) << "still moving";
  }
}

TEST(diffusion_balancer, shortens_a_run_towards_the_best_schedule) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    rng random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(3));
    cluster machine({.seed = seed, .ranks = ranks, .make = diffusing});
    std::vector<double> works(4 + random.below(5));
    for (double& each : works) {
      each = 5e-3 + 45e-3 * random.uniform();
      machine.add(0, each);
    }
    machine.run(1);
    ASSERT_FALSE(machine.work_left()) << "seed " << seed;
    EXPECT_LE(machine.now(), 1.5 * best_makespan(works, ranks)) << "seed " << seed;
    EXPECT_FALSE(machine.moved_a_running_object);
  }
}

TEST(diffusion_balancer, survives_any_bytes_from_anybody) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    cluster machine({.seed = seed, .ranks = 3, .forge = true, .make = diffusing});
    for (std::uint32_t n = 0; n < 9; ++n) machine.add(0, 5e-3);
    machine.run(1);
    EXPECT_FALSE(machine.work_left()) << "seed " << seed;
    EXPECT_FALSE(machine.moved_a_running_object);
  }
}

TEST(diffusion_balancer, an_idle_machine_looks_around_ever_more_rarely) {
  const diffusion_balancer::options defaults;
  cluster machine({.ranks = 16, .frozen = true, .make = diffusing});
  machine.run(0.5);
  const std::uint64_t previous = machine.messages;
  machine.run(1);
  const double looks = 1 / (defaults.look_interval.max() / 2);  // the jitter's lower end
  EXPECT_LE(static_cast<double>(machine.messages - previous), 16 * 2 * defaults.neighbours * looks);
  EXPECT_GT(machine.messages, previous);
}

enum class diffusion_kind : std::uint8_t { level_request, level, work_request, nothing, given };
std::vector<std::byte> bytes_of(diffusion_kind kind, std::uint32_t number, double load, std::uint32_t objects = 0) {
  return pack(kind, number, load, objects);
}

/// The objects that a rank gives to another rank with the load `remote_value`.
std::vector<std::uint64_t> given(scripted_host& host, double remote_value,
                                 const diffusion_balancer::options& options = {}) {
  diffusion_balancer victim(options);
  host.moved.clear();
  host.sent.clear();
  victim.on_message(host, rank_id{5}, bytes_of(diffusion_kind::work_request, 9, remote_value));
  EXPECT_EQ(host.sent.size(), 1u);
  EXPECT_EQ(host.sent[0],
            std::pair(rank_id{5}, bytes_of(host.moved.empty() ? diffusion_kind::nothing : diffusion_kind::given, 9, 0,
                                           static_cast<std::uint32_t>(host.moved.size()))));
  return host.moved;
}

TEST(diffusion_balancer, gives_the_heaviest_objects_that_fit_into_half_of_the_difference) {
  using ids = std::vector<std::uint64_t>;
  scripted_host host;
  host.objects = {object(1, 9, 1), object(2, 6, 1), object(3, 2, 1), object(4, 1, 1), object(5, 4, 0, true)};
  EXPECT_EQ(given(host, 0), (ids{1, 3}));
  EXPECT_EQ(given(host, 8), (ids{2, 4})) << "half of 22 - 8 is 7";
  EXPECT_EQ(given(host, 22), ids{});
  EXPECT_EQ(given(host, 0, {.object_load_min = 7}), ids{1});
  EXPECT_EQ(given(host, 0, {.low_load = 20}), ids{3}) << "it keeps the low mark";
  EXPECT_EQ(given(host, 0, {.objects_max = 1}), ids{1});
  EXPECT_EQ(given(host, std::nan("")), (ids{1, 3})) << "not a number counts as nothing";
  host.idle = 3;
  EXPECT_EQ(given(host, 0), ids{1}) << "three workers are about to take what waits";
  host.objects = {object(1, 5, 0), object(2, 7, 0)};
  EXPECT_EQ(given(host, 3), ids{1}) << "none fits into 4.5, but 5 narrows the gap";
  EXPECT_EQ(given(host, 7), ids{}) << "5 would only turn it round";
}

TEST(diffusion_balancer, of_a_large_bag_an_eighth_of_a_ranks_part_is_given_at_a_time) {
  scripted_host host;
  host.ranks = 6;
  for (std::uint64_t index = 1; index <= 1920; ++index) host.objects.push_back(object(index, 1, 1));
  EXPECT_EQ(given(host, 0).size(), 40u);
  EXPECT_EQ(given(host, 0, {.objects_max = 64}).size(), 64u);
  host.objects.resize(480);
  EXPECT_EQ(given(host, 0).size(), 16u) << "a small bag leaves as many as the option says";
}

TEST(diffusion_balancer, takes_only_answers_that_it_waits_for) {
  scripted_host host;
  host.idle = 1;
  diffusion_balancer thief({.neighbours = 2});
  thief.on_tick(host);
  ASSERT_EQ(host.sent.size(), 2u);
  const rank_id first = host.sent[0].first, second = host.sent[1].first;
  ASSERT_NE(first, second);
  thief.on_tick(host);
  thief.on_message(host, first, bytes_of(diffusion_kind::level, 2, 5));
  thief.on_message(host, first, bytes_of(diffusion_kind::given, 1, 5));
  thief.on_message(host, first, bytes_of(diffusion_kind::level, 1, 5));
  thief.on_message(host, first, bytes_of(diffusion_kind::level, 1, 4));
  thief.on_message(host, rank_id{0}, bytes_of(diffusion_kind::level, 1, 5));
  EXPECT_EQ(host.sent.size(), 2u) << "one level is missing";
  thief.on_message(host, second, bytes_of(diffusion_kind::level, 1, 7));
  ASSERT_EQ(host.sent.size(), 3u);
  EXPECT_EQ(host.sent[2], std::pair(second, bytes_of(diffusion_kind::work_request, 1, 0)));
  host.time = 1;
  thief.on_message(host, first, bytes_of(diffusion_kind::nothing, 1, 0));
  thief.on_tick(host);
  EXPECT_EQ(host.sent.size(), 3u) << "the one that was asked has not answered";
  thief.on_message(host, second, bytes_of(diffusion_kind::nothing, 1, 0));
  ASSERT_EQ(host.sent.size(), 4u);
  EXPECT_EQ(host.sent[3], std::pair(first, bytes_of(diffusion_kind::work_request, 1, 0))) << "the next one";
  thief.on_message(host, first, bytes_of(diffusion_kind::given, 1, 0));
  host.time = 2;
  thief.on_tick(host);
  ASSERT_EQ(host.sent.size(), 6u);
  EXPECT_EQ(host.sent[4].first, first) << "it gave something";
  EXPECT_NE(host.sent[5].first, second) << "it has been replaced";
}

TEST(diffusion_balancer, looks_elsewhere_when_no_neighbour_is_above_it) {
  scripted_host host;
  host.idle = 1;
  host.objects = {object(1, 3, 0)};
  diffusion_balancer thief({.neighbours = 4});
  std::set<rank_id> asked;
  for (std::uint32_t look = 1; look <= 10; ++look) {
    host.time += 1;
    host.sent.clear();
    thief.on_tick(host);
    ASSERT_EQ(host.sent.size(), 4u);
    const auto requests = host.sent;
    for (const auto& each : requests) {
      asked.insert(each.first);
      thief.on_message(host, each.first, bytes_of(diffusion_kind::level, look, 3));
    }
    EXPECT_EQ(host.sent.size(), 4u) << "nobody has more";
  }
  EXPECT_GT(asked.size(), 20u);
}

}  // namespace
}  // namespace nacre::balance
