// SPDX-License-Identifier: Apache-2.0
// The default balancer under programs that step, under trees, and under programs that do one after the other; what
// balancers see of work.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace {

constexpr std::int64_t cells = 256;

/// One of some cells, all of which wait for the sum over all of them behind each step. A sixteenth has much to do.
class cell {
 public:
  void begin(nacre::context& ctx, nacre::array_ptr<cell> all, std::uint64_t first, std::uint64_t end) {
    all_ = all;
    end_ = end;
    step(ctx, first, 0);
  }
  void step(nacre::context& ctx, std::uint64_t number, double) {
    const double seconds = ctx.index()[0] < cells / 16 ? 20e-6 : 4e-6;
    ctx.charge(seconds);
    work_ += seconds;
    ++done_;
    if (number + 1 < end_) ctx.contribute<&cell::step>(number + 1, work_, std::plus<>{}, all_);
  }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] double work() const { return work_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, end_, done_, work_);
  }

 private:
  nacre::array_ptr<cell> all_;
  std::uint64_t end_ = 0, done_ = 0;
  double work_ = 0;
};

/// Makes two of itself, down to some depth.
class node {
 public:
  void grow(nacre::context& ctx, int depth) {
    ctx.charge(15e-6);
    for (int child = 0; depth > 0 && child < 2; ++child) ctx.send<&node::grow>(ctx.create<node>(), depth - 1);
    ctx.destroy(ctx.self<node>());
  }
  template <class Archive>
  void serialize(Archive&) {}
};

struct outcome {
  double steps = 0, tree = 0;  // seconds
  double work = 0;             // of all cells
  bool is_right = false;
};

nacre::config simulated(const std::string& balancer) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "16");
  configuration.set("workers", "1");
  configuration.set("balancer", balancer);
  return configuration;
}

outcome run_on(const nacre::config& configuration, std::uint64_t steps, int depth, std::uint64_t rounds) {
  outcome seen;
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    const bool leads = rt.rank().value() == 0;
    const auto all = rt.create_array<cell>(nacre::extents{cells}, [](nacre::index) { return cell(); });
    rt.barrier();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      double begin = rt.now();
      if (leads && steps != 0) rt.send<&cell::begin>(all, all, round * steps, (round + 1) * steps);
      rt.wait_quiescence();
      if (leads) seen.steps += rt.now() - begin;
      begin = rt.now();
      if (leads && depth != 0) rt.send<&node::grow>(rt.create<node>(), depth);
      rt.wait_quiescence();
      if (leads) seen.tree += rt.now() - begin;
    }
    if (leads) {
      seen.work = rt.reduce<&cell::work>(all, std::plus<>{}).get();
      seen.is_right =
          rt.reduce<&cell::done>(all, std::plus<>{}).get() == static_cast<std::uint64_t>(cells) * steps * rounds;
    }
    rt.barrier();
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(seen.is_right) << configuration.get_string("balancer");
  return seen;
}

outcome run_under(const std::string& balancer, std::uint64_t steps, int depth, std::uint64_t rounds = 1) {
  return run_on(simulated(balancer), steps, depth, rounds);
}

TEST(stepping, objects_that_step_take_half_as_long_by_the_default_as_under_lifelines) {
  const outcome steps = run_under("adaptive", 400, 0), lifelines = run_under("lifeline", 400, 0);
  EXPECT_LT(steps.steps, 0.5 * lifelines.steps);
  EXPECT_LT(steps.steps, 1.5 * steps.work / 16);
}

TEST(stepping, a_tree_takes_as_long_as_under_lifelines) {
  EXPECT_LT(run_under("adaptive", 0, 12).tree, 1.05 * run_under("lifeline", 0, 12).tree);
}

TEST(stepping, trees_between_steps_are_spread_too) {
  const outcome mixed = run_under("adaptive", 200, 11, 4), lifelines = run_under("lifeline", 200, 11, 4);
  EXPECT_LT(mixed.steps, 0.6 * lifelines.steps);
  EXPECT_LT(mixed.tree, 3 * lifelines.tree) << "ranks that starve steal; on one rank it would be 16 times";
}

struct watched_work {
  nacre::work_window window;
  nacre::lasting_work lasting;
  nacre::worked_objects worked;
  std::vector<nacre::object_load> movable;
};
watched_work watched;  // by rank 0, at its last tick

/// Moves nothing, and looks at what the objects of rank 0 have done since the job's start.
class watcher final : public nacre::balancer {
 public:
  void on_tick(nacre::balancer_host& host) override {
    nacre::work_observer* const work = host.observed();
    if (host.rank().value() != 0 || work == nullptr) return;
    watched.window = work->window();
    watched.lasting = work->lasting();
    watched.worked = work->worked(2);
    watched.movable.assign(watched.worked.movable.begin(), watched.worked.movable.end());
  }
  [[nodiscard]] bool observes_work() const override { return true; }
};

/// Works as long as it is told; then it may move or end.
class worker_object {
 public:
  void work(nacre::context& ctx, double seconds) { ctx.charge(seconds); }
  void leave(nacre::context& ctx) { ctx.migrate(ctx.self<worker_object>(), nacre::rank_id{1}); }
  void end(nacre::context& ctx) { ctx.destroy(ctx.self<worker_object>()); }
  template <class Archive>
  void serialize(Archive&) {}
};

/// On rank 0 three objects work four times, 100, 200 and 300 us each. The heaviest leaves and the lightest ends, if so.
void watch(bool leaves_and_ends) {
  watched = {};
  nacre::register_balancer("watcher", [](const nacre::config&) { return std::make_unique<watcher>(); });
  nacre::config configuration = simulated("watcher");
  configuration.set("ranks", "2");
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    const bool leads = rt.rank().value() == 0;
    std::vector<nacre::mobile_ptr<worker_object>> objects;
    for (int i = 0; leads && i < 3; ++i) objects.push_back(rt.create<worker_object>());
    for (int step = 0; step < 4; ++step) {
      double seconds = 0;
      for (const auto& each : objects) rt.send<&worker_object::work>(each, seconds += 100e-6);
      rt.wait_quiescence();
    }
    if (leads && leaves_and_ends) {
      rt.send<&worker_object::leave>(objects[2]);
      rt.send<&worker_object::end>(objects[0]);
    }
    rt.wait_quiescence();
    rt.barrier();
  });
  ASSERT_EQ(code, 0);
}

TEST(observed_work, has_all_that_objects_have_done_and_the_heaviest_of_them) {
  watch(false);
  EXPECT_EQ(watched.window.steps, 12U);
  EXPECT_EQ(watched.window.objects, 3U);
  EXPECT_NEAR(watched.window.seconds, 2400e-6, 50e-6);
  EXPECT_EQ(watched.lasting.objects, 3U);
  EXPECT_EQ(watched.lasting.steps, 4);
  EXPECT_NEAR(watched.worked.seconds, 2400e-6, 50e-6);
  EXPECT_EQ(watched.worked.objects, 3U);
  ASSERT_EQ(watched.movable.size(), 2U);
  EXPECT_NEAR(watched.movable[0].load, 1200e-6, 30e-6);
  EXPECT_NEAR(watched.movable[1].load, 800e-6, 20e-6);
}

TEST(observed_work, counts_objects_that_have_left_for_none_and_those_that_have_ended_for_one) {
  watch(true);
  EXPECT_EQ(watched.lasting.objects, 2U);
  EXPECT_GE(watched.window.steps, 14U) << "twelve, and those in which objects left and ended";
  EXPECT_EQ(watched.lasting.steps, static_cast<double>(watched.window.steps) / 2);
  EXPECT_EQ(watched.worked.objects, 1U);
  EXPECT_NEAR(watched.worked.seconds, 800e-6, 20e-6);
  ASSERT_EQ(watched.movable.size(), 1U);
  EXPECT_NEAR(watched.movable[0].load, 800e-6, 20e-6);
}

/// What a cell charges takes no time on threads, but counts as work, so that ranks step, plan and give up many times.
TEST(stepping, each_step_runs_once_on_threads_that_work_while_ranks_plan) {
  nacre::config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "3");
  configuration.set("workers", "2");
  configuration.set("balance.adaptive.interval", "50us");
  run_on(configuration, nacre::tests::sanitized ? 60 : 200, 8, 2);
}

}  // namespace
