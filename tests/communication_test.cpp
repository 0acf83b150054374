// SPDX-License-Identifier: Apache-2.0
// The scenarios on threads and on a simulated machine; what is told of ranks that call different collectives.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

struct setting {
  const char* transport;
  int ranks;
  int workers;
  friend void PrintTo(const setting& setting, std::ostream* out) {
    *out << setting.transport << "_" << setting.ranks << "_ranks_" << setting.workers << "_workers";
  }
};

config settings(const setting& setting, std::uint64_t seed = 1) {
  config configuration;
  configuration.set("transport", setting.transport);
  configuration.set("ranks", std::to_string(setting.ranks));
  configuration.set("workers", std::to_string(setting.workers));
  configuration.set("seed", std::to_string(seed));
  configuration.set("balancer", "none");                       // the scenarios say where objects are
  if (seed % 2 == 0) configuration.set("direct_min", "1GiB");  // all memory travels in messages
  // Short messages travel in bundles. Those of several workers would not leave in the order of their numbers.
  if (seed % 3 == 0 && setting.workers == 1) configuration.set("aggregate", "on");
  return configuration;
}

std::vector<scenario> every_scenario() {
  std::vector<scenario> all;
  for (const auto subject : subjects) all.insert(all.end(), subject().begin(), subject().end());
  return all;
}

class communication : public testing::TestWithParam<std::tuple<setting, scenario>> {};

TEST_P(communication, holds) {
  const auto& [machine, promise] = GetParam();
  const bool simulated = std::string(machine.transport) == "sim";
  for (std::uint64_t seed = 1; seed <= (simulated && !sanitized ? 12U : 3U); ++seed) {
    ASSERT_EQ(run(settings(machine, seed), [&](runtime& rt) { promise.run(rt, seed); }), 0);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(every_kind_of_rank, communication,
                         testing::Combine(testing::Values(setting{"inproc", 1, 2}, setting{"inproc", 3, 2},
                                                          setting{"inproc", 4, 1}, setting{"sim", 4, 1},
                                                          setting{"sim", 3, 3}),
                                          testing::ValuesIn(every_scenario())),
                         [](const auto& given) {
                           return testing::PrintToString(std::get<scenario>(given.param)) + "_on_" +
                                  testing::PrintToString(std::get<setting>(given.param));
                         });

class leaving_main : public testing::TestWithParam<setting> {};

TEST_P(leaving_main, waits_for_all_that_is_under_way) {
  const auto leave = [](runtime& rt) {
    fresh_board(rt);
    drop_futures(rt);
    start_chain(rt);
  };
  ASSERT_EQ(run(settings(GetParam()), leave), 0);
  for (int rank = 0; rank < GetParam().ranks; ++rank) {
    EXPECT_EQ(board_of(rank_id(static_cast<std::uint32_t>(rank))).seen, chain_visits) << "rank " << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(every_kind_of_rank, leaving_main,
                         testing::Values(setting{"inproc", 1, 2}, setting{"inproc", 4, 2}, setting{"sim", 4, 1}),
                         testing::PrintToStringParamName());

TEST(keys_of_memory, follow_the_seed_under_simulation_and_nothing_elsewhere) {
  const auto key_of = [](const char* transport, std::uint64_t seed) {
    std::array<std::uint64_t, 2> key{};
    const auto expose = [&](runtime& rt) {
      std::vector<int> mine(1);
      const auto exposed = rt.expose(std::span(mine));
      key = exposed.name().key;
      rt.withdraw(exposed);
    };
    EXPECT_EQ(run(settings({transport, 1, 1}, seed), expose), 0);
    return key;
  };
  EXPECT_EQ(key_of("sim", 1), key_of("sim", 1));
  EXPECT_NE(key_of("sim", 1), key_of("sim", 2));
  EXPECT_NE(key_of("inproc", 1), key_of("inproc", 1));
}

TEST(memory_of_the_own_rank, changes_at_once_but_in_virtual_time_not_before_the_callers_present) {
  for (const char* const transport : {"inproc", "sim"}) {
    const auto change = [&](runtime& rt) {
      std::vector<int> mine(1), values(1, 5);
      const auto exposed = rt.expose(std::span(mine));
      auto done = rt.put(exposed, 0, std::span<const int>(values));
      EXPECT_EQ(mine[0], transport == std::string("sim") ? 0 : 5);
      done.get();
      EXPECT_EQ(mine[0], 5);
      rt.withdraw(exposed);
    };
    EXPECT_EQ(run(settings({transport, 1, 1}), change), 0);
  }
}

TEST(collectives, every_number_of_simulated_ranks_gets_the_same_as_one_loop) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 130}) {
    ASSERT_EQ(run(settings({"sim", ranks, 1}), [](runtime& rt) { all_collectives(rt, 1); }), 0);
    if (testing::Test::HasFailure()) FAIL() << ranks << " ranks";
  }
}

TEST(collectives_death, ranks_that_call_different_ones_are_told_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [](void (*main)(runtime&)) { std::exit(run(settings({"inproc", 3, 1}), main)); };
  EXPECT_EXIT(job([](runtime& rt) {
                if (rt.rank().value() == 2) rt.barrier();
                static_cast<void>(rt.all_gather(1));
              }),
              testing::ExitedWithCode(1), "not the same on all ranks: .*(barrier.*all_gather|all_gather.*barrier)");
  EXPECT_EXIT(job([](runtime& rt) {
                static_cast<void>(rt.rank().value() == 1 ? rt.scan(1, std::plus<>{}) : rt.scan(1.5, std::plus<>{}) > 1);
              }),
              testing::ExitedWithCode(1), "values of another type");
  EXPECT_EXIT(job([](runtime& rt) {
                if (rt.rank().value() == 1) static_cast<void>(rt.create_array<std::string>(extents{4}));
              }),
              testing::ExitedWithCode(1), "rank 1 makes or destroys an array.*Every main makes the same collective");
  EXPECT_EXIT(job([](runtime& rt) {
                if (rt.rank().value() != 1) rt.barrier();
              }),
              testing::ExitedWithCode(1), "rank 1 has left its main");
}

}  // namespace
}  // namespace nacre::tests
