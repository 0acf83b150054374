// SPDX-License-Identifier: Apache-2.0
// The scenarios with homes that have nothing to do with births: nothing in the runtime takes the one for the other.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <nacre/nacre.hpp>

#include "scenarios/scenarios.hpp"

namespace nacre::tests {
namespace {

struct job_shape {
  const char* transport;
  int ranks;
  int workers;
  friend void PrintTo(const job_shape& job_shape, std::ostream* out) {
    *out << job_shape.transport << "_" << job_shape.ranks << "_ranks_" << job_shape.workers << "_workers";
  }
};

/// Those that use objects, arrays, groups or containers.
std::vector<scenario> scenarios_of_names() {
  constexpr std::array named{object_scenarios,  large_object_scenarios,  lock_scenarios,
                             array_scenarios,   quiescence_scenarios,    colocation_scenarios,
                             lambda_scenarios,  group_scenarios,         contribution_scenarios,
                             section_scenarios, waiting_scenarios,       container_scenarios,
                             keyed_scenarios,   short_message_scenarios, counting_set_scenarios,
                             ending_scenarios,  group_message_scenarios, cancellation_scenarios};
  std::vector<scenario> all;
  for (const auto subject : named) all.insert(all.end(), subject().begin(), subject().end());
  return all;
}

class scrambled_homes_of_a_job : public testing::TestWithParam<std::tuple<job_shape, scenario>> {};

TEST_P(scrambled_homes_of_a_job, break_no_promise) {
  const auto& [machine, promise] = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    config configuration;
    configuration.set("transport", machine.transport);
    configuration.set("ranks", machine.ranks);
    configuration.set("workers", machine.workers);
    configuration.set("seed", seed);
    configuration.set("balancer", "none");  // the scenarios say where objects are
    configuration.set("homes.scramble", seed * 7);
    ASSERT_EQ(run(configuration, [&](runtime& rt) { promise.run(rt, seed); }), 0);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(every_kind_of_name, scrambled_homes_of_a_job,
                         testing::Combine(testing::Values(job_shape{"inproc", 3, 2}, job_shape{"sim", 4, 1}),
                                          testing::ValuesIn(scenarios_of_names())),
                         [](const auto& given) {
                           return testing::PrintToString(std::get<scenario>(given.param)) + "_on_" +
                                  testing::PrintToString(std::get<job_shape>(given.param));
                         });

struct listener {
  std::uint64_t heard = 0;
  void hear() { ++heard; }
  [[nodiscard]] std::uint64_t count() const { return heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

/// A message that goes to a wrong rank comes to its object all the same, but on a longer way.
TEST(scrambled_homes_of_objects, are_where_the_first_message_goes) {
  config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", 4);
  configuration.set("balancer", "none");
  configuration.set("homes.scramble", 5);
  const auto send = [](runtime& rt) {
    const auto all = rt.create_array<listener>(extents{20, 20});
    const auto of_rank_0 = rt.broadcast(rt.create<listener>(), rank_id(0));
    for (std::uint64_t number = 0; number < all.shape().count(); ++number)
      rt.send<&listener::hear>(all[all.shape().place_of(number)]);
    rt.send<&listener::hear>(of_rank_0);
    rt.send<&listener::hear>(section(all, index_range{{0, 0}, {20, 20}, {1, 3}}));
    rt.wait_quiescence();
    EXPECT_EQ(rt.call<&listener::count>(of_rank_0).get(), rt.size());
    EXPECT_EQ(rt.reduce<&listener::count>(all, std::plus<>{}).get(), rt.size() * (20 * 20 + 20 * 7));
    EXPECT_EQ(rt.counters().forwards, 0U);
    rt.barrier();
    rt.destroy(all);
  };
  ASSERT_EQ(run(configuration, send), 0);
}

}  // namespace
}  // namespace nacre::tests
