// SPDX-License-Identifier: Apache-2.0
// Simulated ranks pay for the runtime's own work: each kind by its row of the table, where and when it is done.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "machine/runtime_cost_table.hpp"

namespace {

using nacre::rank_id;
using settings = std::map<std::string, std::string>;

constexpr double us = 1e-6;

/// Runs on a machine on which nothing takes time but what `costs` says.
void run(const settings& costs, const std::string& ranks, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", ranks);
  configuration.set("balancer", "none");
  for (const char* each : {"latency", "send_overhead", "receive_overhead", "gap"}) {
    configuration.set(std::string("sim.") + each, "0ns");
  }
  configuration.set("sim.bandwidth", "1000000");
  configuration.set("sim.jitter", "0");
  for (const nacre::option& each : nacre::machine::runtime_cost_rows()) {
    if (each.name != "sim.cost.factor" && each.name != "sim.charge")
      configuration.set(each.name, each.kind == nacre::option_kind::duration ? "0ns" : "0");
  }
  for (const auto& [name, value] : costs) configuration.set(name, value);
  EXPECT_EQ(nacre::run(configuration, main), 0);
}

/// What main takes to look at the clock again at an instant that it has seen.
constexpr double second_look_us = 0.1;

struct cell {
  std::vector<double> seen{};
  std::vector<std::byte> body{};

  void grow(std::uint64_t bytes) { body.resize(bytes); }
  void compute(nacre::context& ctx, double seconds) { ctx.charge(seconds); }
  void note(nacre::context& ctx) { seen.push_back(ctx.now()); }
  void pass_on(nacre::context& ctx, nacre::mobile_ptr<cell> object) { ctx.send<&cell::note>(object); }
  std::vector<double> times() const { return seen; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seen, body);
  }
};

/// How long `act` takes main, in us; the network's least time between two messages of a stream is 1 ns.
double main_us(nacre::runtime& rt, const std::function<void()>& act) {
  const double begin = rt.now();
  act();
  return (rt.now() - begin) / us;
}

TEST(own_costs, main_pays_for_the_objects_that_it_creates) {
  run({{"sim.cost.create", "1us"}}, "1", [](nacre::runtime& rt) {
    EXPECT_NEAR(main_us(rt,
                        [&] {
                          for (int n = 0; n < 100; ++n) static_cast<void>(rt.create<cell>());
                        }),
                100, 1e-6);
  });
}

TEST(own_costs, messages_to_the_own_rank_and_to_others_have_rows_of_their_own) {
  for (const bool local : {true, false}) {
    run({{local ? "sim.cost.send_local" : "sim.cost.send", "1us"}}, "2", [local](nacre::runtime& rt) {
      if (rt.rank() != rank_id(0)) return;
      const auto object = rt.create<cell>();
      const auto remote = rt.create_on<cell>(rank_id(1)).get();
      const auto send_to = [&](nacre::mobile_ptr<cell> p) {
        return main_us(rt, [&] {
          for (int n = 0; n < 10; ++n) rt.send<&cell::note>(p);
        });
      };
      EXPECT_NEAR(send_to(object), local ? 10 : second_look_us, 1e-6);
      EXPECT_NEAR(send_to(remote), local ? second_look_us : 10, 1e-6);
    });
  }
}

/// Times at which an object of rank `index` ran each of 5 messages, from when main of rank 0 sent them at once.
std::vector<double> times_us(const settings& costs, std::uint32_t index) {
  std::vector<double> times;
  run(costs, "2", [&](nacre::runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    const auto one = rt.create_on<cell>(rank_id(index)).get();
    const double begin = rt.now();
    for (int n = 0; n < 5; ++n) rt.send<&cell::note>(one);
    rt.wait_quiescence();
    const std::vector<double> seen = rt.call<&cell::times>(one).get();
    for (const double each : seen) times.push_back((each - begin) / us);
  });
  return times;
}

TEST(own_costs, each_handler_begins_when_the_one_before_it_and_its_own_dispatch_are_over) {
  const std::vector<double> times = times_us({{"sim.cost.dispatch", "1us"}}, 0);
  ASSERT_EQ(times.size(), 5u);
  double free = 0;
  for (const double each : times) {  // handlers of the runtime may come between them
    EXPECT_GE(each, free + 1 - 1e-6);
    free = each;
  }
}

TEST(own_costs, a_rank_pays_for_each_message_that_it_receives) {
  const std::vector<double> times = times_us({{"sim.cost.receive", "1us"}}, 1);
  ASSERT_EQ(times.size(), 5u);
  EXPECT_GE(times.back(), 5);
  const std::vector<double> local = times_us({{"sim.cost.receive", "1us"}}, 0);
  ASSERT_EQ(local.size(), 5u);
  EXPECT_NEAR(local.back(), 0, 1e-2) << "messages of a rank to itself are not received";
}

TEST(own_costs, what_a_handler_causes_carries_the_time_that_the_runtime_took_before_it) {
  run({{"sim.cost.dispatch", "100us"}, {"sim.cost.send", "10us"}}, "2", [](nacre::runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    const auto object = rt.create<cell>();
    const auto remote = rt.create_on<cell>(rank_id(1)).get();
    const double begin = rt.now();
    rt.send<&cell::pass_on>(object, remote);
    rt.wait_quiescence();
    const std::vector<double> seen = rt.call<&cell::times>(remote).get();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_NEAR((seen.front() - begin) / us, 100 + 10 + 100, 0.1);
  });
}

/// Virtual time of a migration of an object with so many bytes, from rank 0 to rank 1.
double move_us(const settings& costs, std::uint64_t bytes) {
  double took = 0;
  run(costs, "2", [&](nacre::runtime& rt) {
    if (rt.rank() != rank_id(0)) return;
    const auto one = rt.create<cell>();
    rt.send<&cell::grow>(one, bytes);
    rt.wait_quiescence();
    took = main_us(rt, [&] { rt.migrate(one, rank_id(1)).get(); });
  });
  return took;
}

TEST(own_costs, a_migration_costs_at_both_ends_by_object_and_by_byte) {
  constexpr std::uint64_t bytes = 1'000'000;
  EXPECT_LT(move_us({}, bytes), 2);  // the wire
  EXPECT_NEAR(move_us({{"sim.cost.move_out", "100us"}}, 0), 100, 1);
  EXPECT_NEAR(move_us({{"sim.cost.move_in", "100us"}}, 0), 100, 1);
  EXPECT_NEAR(move_us({{"sim.cost.pack", "1"}}, bytes), 1000, 5);
  EXPECT_NEAR(move_us({{"sim.cost.unpack", "1"}}, bytes), 1000, 5);
}

TEST(own_costs, a_message_that_is_sent_on_costs_the_rank_between) {
  for (const bool charged : {false, true}) {
    run({{"sim.cost.forward", charged ? "100us" : "0ns"}, {"location", "lazy_forwarding"}}, "3",
        [charged](nacre::runtime& rt) {
          if (rt.rank() != rank_id(0)) return;
          const auto one = rt.create_on<cell>(rank_id(1)).get();
          rt.migrate(one, rank_id(2)).get();
          rt.wait_quiescence();
          const double begin = rt.now();
          rt.send<&cell::note>(one);
          rt.wait_quiescence();
          EXPECT_NEAR((rt.call<&cell::times>(one).get().back() - begin) / us, charged ? 100 : 0, 0.1);
        });
  }
}

/// Says at which times it was called.
struct observer final : nacre::balancer {
  explicit observer(std::vector<double>& values) : ticks(values) {}
  void on_tick(nacre::balancer_host& host) override { ticks.push_back(host.now() / us); }
  [[nodiscard]] bool observes_loads() const override { return false; }
  std::vector<double>& ticks;
};

TEST(own_costs, a_look_of_a_balancer_takes_its_time_before_the_balancer_sees_the_clock) {
  std::vector<double> ticks;
  nacre::register_balancer("own_costs_observer",
                           [&](const nacre::config&) { return std::make_unique<observer>(ticks); });
  run({{"sim.cost.look", "3us"}, {"balancer", "own_costs_observer"}, {"balance.tick", "20us"}}, "1",
      [](nacre::runtime& rt) {
        rt.send<&cell::compute>(rt.create<cell>(), 50 * us);
        rt.wait_quiescence();
      });
  ASSERT_FALSE(ticks.empty());
  EXPECT_NEAR(ticks.front(), 50 + 3, 1e-2) << "the tick that was due after 20 us came behind the handler";
}

TEST(own_costs, costs_that_are_multiplied_by_nought_leave_the_machine_as_it_was) {
  run({{"sim.cost.create", "1us"}, {"sim.cost.send_local", "1us"}, {"sim.cost.factor", "0"}}, "1",
      [](nacre::runtime& rt) {
        EXPECT_EQ(main_us(rt, [&] { rt.send<&cell::note>(rt.create<cell>()); }), second_look_us);
      });
}

}  // namespace
