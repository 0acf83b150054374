// SPDX-License-Identifier: Apache-2.0
// Stealing on small machines, against the best possible schedule and against its own bounds.
#include "balance/balancer/steal_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

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
    cluster machine({.seed = seed, .ranks = ranks, .workers = workers, .make = stealing});
    const double machines = ranks * workers;
    const double best = best_makespan(scatter(machine, ranks, random), ranks * workers);
    machine.run(1);
    ASSERT_FALSE(machine.work_left()) << "seed " << seed;
    EXPECT_LE(machine.now(), (2 - 1 / machines) * best + 1e-3) << "Graham's bound and a few requests, seed " << seed;
    EXPECT_FALSE(machine.moved_a_running_object);
    EXPECT_LE(machine.moves_of_one_object_max, 2u) << "handed around, seed " << seed;
  }
}

TEST(steal_balancer, sends_nothing_while_all_ranks_work) {
  cluster machine({.ranks = 8, .make = stealing});
  for (std::uint32_t n = 0; n < 32; ++n) machine.add(n % 8, 0.1);
  machine.run(0.39);
  EXPECT_EQ(machine.messages, 0u);
  machine.run(0.1);
  EXPECT_EQ(machine.migrations, 0u) << "balanced from the start";
}

TEST(steal_balancer, never_gives_away_what_its_own_workers_will_take) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster machine({.seed = seed, .ranks = 4, .workers = 2, .make = stealing});
    for (std::uint32_t n = 0; n < 8; ++n) machine.add(n % 4, 10e-3 * (1 + n % 3));
    machine.run(1);
    EXPECT_FALSE(machine.work_left());
    EXPECT_EQ(machine.migrations, 0u) << "seed " << seed;
  }
}

TEST(steal_balancer, an_idle_machine_asks_ever_more_rarely) {
  const steal_balancer::options defaults;
  cluster machine({.ranks = 16, .frozen = true, .make = stealing});
  machine.run(0.1);
  const std::uint64_t previous = machine.messages;
  machine.run(1);
  const double rounds = 1 / (defaults.retry_interval.max() / 2);  // the jitter's lower end
  EXPECT_LE(static_cast<double>(machine.messages - previous), 16 * 2 * rounds);
  EXPECT_GT(machine.messages, previous) << "nobody would notice new work";
}

TEST(steal_balancer, work_that_splits_when_wanted_spreads_over_all_ranks) {
  for (const std::uint32_t ranks : {2u, 7u, 32u}) {
    cluster machine({.seed = ranks, .ranks = ranks, .make = stealing});
    machine.add(0, 0.5, 0.5e-3);
    machine.run(1);
    ASSERT_FALSE(machine.work_left());
    EXPECT_LE(machine.now(), 1.15 * 0.5 / ranks + 5e-3) << ranks << " ranks";
    EXPECT_FALSE(machine.moved_a_running_object);
  }
}

TEST(steal_balancer, survives_any_bytes_from_anybody) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    rng random(seed);
    cluster machine({.seed = seed, .ranks = 3, .forge = true, .make = stealing});
    scatter(machine, 3, random);
    machine.run(2);
    EXPECT_FALSE(machine.work_left()) << "seed " << seed;
    EXPECT_FALSE(machine.moved_a_running_object);
  }
}

/// One of ten thousand ranks, with a scripted host.
class lonely_host final : public balancer_host {
 public:
  [[nodiscard]] rank_id rank() const noexcept override { return rank_id{0}; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return 10'000; }
  [[nodiscard]] rank_load summary() override { return {.waiting = waiting_of(objects), .running = 1 - idle}; }
  [[nodiscard]] std::span<const object_load> candidates(std::size_t most, candidate_kind kind) override {
    matches = candidates_of(objects, most, kind);
    return matches;
  }
  [[nodiscard]] std::optional<object_load> load_of(object_id object) override {
    return balance::load_of(objects, object);
  }
  [[nodiscard]] std::span<const object_load> local_loads() override { return objects; }
  [[nodiscard]] double total_load() override { return 0; }
  [[nodiscard]] std::uint32_t workers() const override { return 1; }
  [[nodiscard]] std::uint32_t idle_workers() const override { return idle; }
  void send(rank_id target, std::span<const std::byte>) override { answered.push_back(target); }
  void migrate(object_id object, rank_id target) override {
    moved.emplace_back(object, target);
    std::erase_if(objects, [&](const object_load& each) { return each.object == object; });
  }
  [[nodiscard]] nacre::rng& rng() override { return stream; }
  [[nodiscard]] double now() const override { return time; }

  std::vector<object_load> objects, matches;
  std::vector<rank_id> answered;
  std::vector<std::pair<object_id, rank_id>> moved;
  std::uint32_t idle = 0;
  double time = 0;
  nacre::rng stream{1};
};

std::vector<std::byte> request(std::uint32_t number, double patience) {
  return pack(std::uint8_t{0}, number, patience);
}

object_load waiting_object(std::uint64_t index, double load) {
  return {.object = object_id(rank_id{0}, index), .load = load, .messages = 1};
}

TEST(steal_balancer, keeps_a_bounded_number_of_thieves_and_answers_every_one) {
  lonely_host host;
  steal_balancer victim({.waiting_max = 4});
  EXPECT_FALSE(victim.wanted());
  for (std::uint32_t thief = 1; thief < 10'000; ++thief) victim.on_message(host, rank_id{thief}, request(1, 0));
  EXPECT_TRUE(victim.wanted());
  EXPECT_EQ(host.answered.size(), 9'999u - 4) << "all but four were refused at once";
  host.time = 1;
  victim.on_tick(host);
  EXPECT_EQ(host.answered.size(), 9'999u);
  EXPECT_FALSE(victim.wanted());
}

TEST(steal_balancer, serves_the_line_as_soon_as_work_appears_heaviest_first_and_keeps_a_share) {
  lonely_host host;
  steal_balancer victim({.waiting_max = 4});
  victim.on_message(host, rank_id{7}, request(1, 0));
  victim.on_message(host, rank_id{9}, request(1, 0));
  EXPECT_TRUE(host.answered.empty());
  host.objects = {waiting_object(1, 1),
                  waiting_object(2, 5),
                  waiting_object(3, 4),
                  waiting_object(4, 5),
                  {.object = object_id(rank_id{0}, 5), .load = 100, .messages = 3, .running = true}};
  victim.on_tick(host);
  const std::vector<std::pair<object_id, rank_id>> expected = {{object_id(rank_id{0}, 2), rank_id{7}},
                                                               {object_id(rank_id{0}, 4), rank_id{9}},
                                                               {object_id(rank_id{0}, 1), rank_id{7}}};
  EXPECT_EQ(host.moved, expected) << "the third object is the victim's own";
  EXPECT_EQ(host.answered, (std::vector{rank_id{7}, rank_id{9}}));
}

TEST(steal_balancer, an_idle_rank_keeps_a_request_only_as_long_as_the_thief_would_rest) {
  lonely_host host;
  host.idle = 1;
  steal_balancer victim({});
  victim.on_message(host, rank_id{7}, request(1, 0));
  EXPECT_EQ(host.answered.size(), 1u);
  victim.on_message(host, rank_id{7}, request(2, 500e-6));
  EXPECT_EQ(host.answered.size(), 1u);
  host.time = 501e-6;
  victim.on_tick(host);
  EXPECT_EQ(std::count(host.answered.begin(), host.answered.end(), rank_id{7}), 2);
  victim.on_message(host, rank_id{8}, request(1, std::nan("")));
  victim.on_message(host, rank_id{8}, request(2, -1));
  EXPECT_EQ(std::count(host.answered.begin(), host.answered.end(), rank_id{8}), 2);
  victim.on_message(host, rank_id{9}, request(1, 1e300));
  host.time += 2 * steal_balancer::options{}.retry_interval.max();
  victim.on_tick(host);
  EXPECT_EQ(std::count(host.answered.begin(), host.answered.end(), rank_id{9}), 1) << "patience has a bound";
}

TEST(steal_balancer, gives_nothing_that_its_own_idle_worker_is_about_to_take) {
  lonely_host host;
  host.idle = 1;
  host.objects = {waiting_object(1, 1)};
  steal_balancer victim({});
  victim.on_message(host, rank_id{7}, request(1, 1e-3));
  EXPECT_TRUE(host.moved.empty());
  host.objects.push_back(waiting_object(2, 1));
  victim.on_tick(host);
  EXPECT_EQ(host.moved.size(), 1u);
}

TEST(steal_balancer, a_thief_heeds_only_the_answer_that_it_waits_for) {
  enum class kind : std::uint8_t { request, nothing, given };
  const auto answer = [](kind sort, std::uint32_t number) { return pack(sort, number, 0.0); };
  const steal_balancer::options defaults;
  lonely_host host;
  host.idle = 1;
  steal_balancer thief(defaults);
  const auto asks_at = [&](double time) {
    host.time = time;
    const std::size_t previous = host.answered.size();
    thief.on_tick(host);
    return host.answered.size() != previous;
  };
  ASSERT_TRUE(asks_at(1));
  const rank_id victim = host.answered[0];
  thief.on_message(host, rank_id{victim.value() % 9'999 + 1}, answer(kind::nothing, 1));
  thief.on_message(host, victim, answer(kind::nothing, 7));
  EXPECT_FALSE(asks_at(2)) << "its request is still open";
  thief.on_message(host, victim, answer(kind::nothing, 1));
  ASSERT_TRUE(asks_at(3));
  thief.on_message(host, host.answered.back(), answer(kind::given, 2));
  EXPECT_FALSE(asks_at(3 + 0.9 * defaults.arrival_timeout)) << "the objects are on their way";
  EXPECT_TRUE(asks_at(3 + 1.1 * defaults.arrival_timeout));
}

TEST(steal_balancer, does_not_ask_while_objects_wait_for_its_idle_workers) {
  lonely_host host;
  host.idle = 1;
  host.time = 1;
  host.objects = {waiting_object(1, 1)};
  steal_balancer thief({});
  thief.on_tick(host);
  EXPECT_TRUE(host.answered.empty());
}

TEST(steal_balancer, a_load_that_is_no_number_does_no_harm) {
  lonely_host host;
  for (std::uint64_t n = 1; n <= 40; ++n) host.objects.push_back(waiting_object(n, n % 2 == 0 ? std::nan("") : 1));
  steal_balancer victim({});
  victim.on_message(host, rank_id{7}, request(1, 0));
  EXPECT_EQ(host.moved.size(), 16u) << "every other one, up to objects_max";
}

}  // namespace
}  // namespace nacre::balance
