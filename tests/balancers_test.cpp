// SPDX-License-Identifier: Apache-2.0
// A program that is out of balance, under every balancer and scheduler: exact results, in less time than without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace {

/// Works for several turns, some longer than others, and says at its end where each was.
struct task {
  std::uint64_t seed = 0;
  std::vector<std::uint32_t> ranks{};

  [[nodiscard]] double turn_seconds() const { return seed % 5 == 0 ? 250e-6 : 100e-6; }
  void turn(nacre::context& ctx) {
    const double until = ctx.now() + 0.99 * turn_seconds();
    ctx.charge(turn_seconds());
    while (ctx.now() < until) continue;  // on real threads, where nothing else takes time
    ranks.push_back(ctx.rank().value());
    if (ranks.size() < 8) ctx.send<&task::turn>(ctx.self<task>());
  }
  std::vector<std::uint32_t> been() const { return ranks; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seed, ranks);
  }
};

struct outcome {
  double seconds = 0;  // virtual ones under sim
  std::map<std::uint32_t, int> turns_on;
};

constexpr std::uint32_t ranks = 4;
constexpr int tasks = 48;

/// All tasks begin on rank 0.
outcome run(const std::string& transport, const std::string& balancer, const std::string& scheduler) {
  nacre::config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "1");
  configuration.set("balancer", balancer);
  configuration.set("scheduler", scheduler);
  configuration.set("sim.ranks_per_host", "2");
  outcome all;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         std::vector<nacre::mobile_ptr<task>> every;
                         for (std::uint64_t n = 0; rt.rank().value() == 0 && n < tasks; ++n) {
                           every.push_back(rt.create<task>(n));
                           rt.send<&task::turn>(every.back());
                         }
                         rt.wait_quiescence();
                         const double end = rt.now();
                         rt.enable_balancing(false);
                         for (const auto& each : every) {
                           for (const std::uint32_t rank : rt.call<&task::been>(each).get()) ++all.turns_on[rank];
                         }
                         if (rt.rank().value() == 0) all.seconds = end;
                       }),
            0);
  return all;
}

int all_turns(const outcome& outcome) {
  return std::accumulate(outcome.turns_on.begin(), outcome.turns_on.end(), 0,
                         [](int sum, const auto& each) { return sum + each.second; });
}

/// Counts what is sent to it, which takes no time worth a journey; or longer.
struct tally {
  double seconds = 0;
  std::uint64_t count = 0;
  void add(nacre::context& ctx) {
    ctx.charge(seconds);
    ++count;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, count);
  }
};

/// Objects of rank 0 get messages of so many seconds, some rounds one after the other; returns how many objects move.
std::uint64_t moves_of_tallies(const std::string& balancer, double seconds) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  configuration.set("balancer", balancer);
  std::uint64_t moved = 0;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         std::vector<nacre::mobile_ptr<tally>> all(rt.rank().value() == 0 ? 32 : 0);
                         for (auto& each : all) each = rt.create<tally>(seconds);
                         for (int round = 0; round < 4; ++round) {
                           for (int n = 0; n < 400; ++n) {
                             for (const auto& each : all) rt.send<&tally::add>(each);
                           }
                           rt.wait_quiescence();
                         }
                         moved += rt.counters().migrations_out;
                       }),
            0);
  return moved;
}

TEST(balancers, leave_objects_alone_whose_messages_are_run_sooner_than_moved) {
  std::vector<const char*> names{"lifeline", "steal"};
  if (!nacre::tests::sanitized) names.insert(names.end(), {"hierarchical", "share", "master_worker", "diffusion"});
  for (const char* each : names) {
    const std::uint64_t few = moves_of_tallies(each, 0.1e-6), many = moves_of_tallies(each, 20e-6);
    EXPECT_LE(3 * few, many) << each << ": some move while nothing has been measured";
    EXPECT_GT(many, 20u) << each;
  }
}

class every_balancer : public testing::TestWithParam<const char*> {};

TEST_P(every_balancer, ends_with_exact_results_in_much_less_time_on_four_simulated_ranks) {
  const std::string name = GetParam();
  const double part = name == "rotate" ? 0.95 : name == "random" ? 0.75 : 0.5;  // those do not care
  const outcome without = run("sim", "none", "steal");
  EXPECT_EQ(without.turns_on.size(), 1u);
  for (const char* scheduler : {"steal", "fifo", "lifo", "shared"}) {
    const outcome result = run("sim", GetParam(), scheduler);
    EXPECT_EQ(all_turns(result), 8 * tasks) << scheduler;
    EXPECT_EQ(result.turns_on.size(), ranks) << scheduler;
    EXPECT_LE(result.seconds, part * without.seconds) << scheduler;
  }
}

TEST_P(every_balancer, ends_with_exact_results_on_threads_and_lets_no_rank_go_without) {
  std::size_t ranks_with_turns = 0;
  for (int attempt = 0; attempt < 8 && ranks_with_turns < ranks; ++attempt) {  // a busy host may leave a rank no core
    const outcome outcome = run("inproc", GetParam(), "steal");
    EXPECT_EQ(all_turns(outcome), 8 * tasks);
    ranks_with_turns = std::max(ranks_with_turns, outcome.turns_on.size());
  }
  EXPECT_EQ(ranks_with_turns, ranks);
}

INSTANTIATE_TEST_SUITE_P(built_in, every_balancer,
                         testing::Values("adaptive", "steal", "lifeline", "hierarchical", "diffusion", "gossip",
                                         "greedy_refine", "share", "master_worker", "rotate", "random"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
