// SPDX-License-Identifier: Apache-2.0
// What a balancer sees of a running program, and what the program decides: loads, priorities, phases without balancing.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace {

/// Every message costs so much.
struct piece {
  double seconds = 0;
  double declared = 0;
  std::vector<std::uint32_t> ran_on{};

  void run(nacre::context& ctx) {
    ctx.charge(seconds);
    ran_on.push_back(ctx.rank().value());
  }
  std::vector<std::uint32_t> been() const { return ran_on; }
  double load() const { return declared; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, declared, ran_on);
  }
};

using settings = std::map<std::string, std::string>;

void run_simulated(const settings& with, const std::function<void(nacre::runtime&)>& main) {
  nacre::config made;
  made.set("transport", "sim");
  for (const auto& [name, value] : with) made.set(name, value);
  EXPECT_EQ(nacre::run(made, main), 0);
}

/// Keeps what the rank has shown at each tick.
struct watcher final : nacre::balancer {
  using log = std::vector<std::vector<nacre::object_load>>;
  explicit watcher(log& to) : seen(to) {}
  void on_tick(nacre::balancer_host& host) override {
    const auto now = host.local_loads();
    seen.emplace_back(now.begin(), now.end());
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  log& seen;
};

/// The loads of two objects, by index, when one has run the first of its two messages and the other none of its three.
std::map<std::uint64_t, double> loads_halfway(const std::string& model) {
  watcher::log seen;
  nacre::register_balancer("watcher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<watcher>(seen); });
  run_simulated({{"balancer", "watcher_of_the_test"}, {"balance.load", model}}, [](nacre::runtime& rt) {
    const auto first = rt.create<piece>(0.25, 0.0), second = rt.create<piece>(2.0, 7.0);
    rt.send<&piece::run>(first);
    rt.send<&piece::run>(first);
    for (int n = 0; n < 3; ++n) rt.send<&piece::run>(second);
  });
  for (const auto& each : seen) {
    if (each.size() != 2 || each[0].running || each[1].running) continue;
    if (each[0].seconds > 0 && each[1].seconds == 0) return {{1, each[0].load}, {2, each[1].load}};
  }
  return {};
}

TEST(loads, of_a_balancer_are_what_the_chosen_model_says) {
  using loads = std::map<std::uint64_t, double>;
  const auto near = [](const loads& got, double first, double second) {
    return got.size() == 2 && std::abs(got.at(1) - first) < 0.01 * first &&
           std::abs(got.at(2) - second) < 0.01 * second;
  };
  EXPECT_TRUE(near(loads_halfway("declared"), 0.25, 7));
  EXPECT_TRUE(near(loads_halfway("messages"), 1, 3));
}

TEST(loads, an_object_that_has_run_nothing_yet_is_taken_for_what_others_cost) {
  const std::map<std::uint64_t, double> got = loads_halfway("measured");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_NEAR(got.at(1), 0.25, 0.0025);
  EXPECT_NEAR(got.at(2), 0.75, 0.0075);  // though it will take 6
}

/// Declares neither load nor priority.
struct plain {
  double seconds = 0;
  void run(nacre::context& ctx) { ctx.charge(seconds); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds);
  }
};

TEST(loads, what_waits_for_an_object_is_seen_after_its_first_turn_too) {
  watcher::log seen;
  nacre::register_balancer("watcher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<watcher>(seen); });
  run_simulated({{"balancer", "watcher_of_the_test"}}, [](nacre::runtime& rt) {
    const auto first = rt.create<plain>(0.25), second = rt.create<plain>(0.25);
    for (int n = 0; n < 4; ++n) rt.send<&plain::run>(first);
    rt.send<&plain::run>(second);
  });
  bool found = false;
  for (const auto& each : seen) {
    for (const nacre::object_load& of : each) found = found || (!of.running && of.seconds > 0 && of.messages == 3);
  }
  EXPECT_TRUE(found);
}

/// Takes long to unpack, too.
struct bulky {
  std::vector<std::uint8_t> body = std::vector<std::uint8_t>(std::size_t{1} << 20);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(body);
  }
};

template <class Object>
void arrives_ahead_of_all() {
  for (const char* const scheduler : {"steal", "fifo", "priority"}) {
    double took = 0;
    run_simulated({{"ranks", "2"}, {"scheduler", scheduler}}, [&](nacre::runtime& rt) {
      const auto own = rt.create<Object>();
      rt.barrier();
      if (rt.rank().value() == 1) {
        for (int n = 0; n < 10; ++n) rt.send<&plain::run>(rt.create<plain>(1.0));
      } else {
        const double begin = rt.now();
        rt.migrate(own, nacre::rank_id{1}).get();
        took = rt.now() - begin;
      }
    });
    EXPECT_LT(took, 1.1) << scheduler << ": its worker looks after each handler, and ten wait";
  }
}

TEST(moves, an_object_arrives_ahead_of_all_that_waits_there) { arrives_ahead_of_all<plain>(); }
TEST(moves, a_large_object_does_so_too_if_all_workers_are_busy) { arrives_ahead_of_all<bulky>(); }

/// Sends one object away at each tick, and keeps what moving was said to cost before.
struct mover final : nacre::balancer {
  explicit mover(std::vector<double>& to) : costs(to) {}
  void on_tick(nacre::balancer_host& host) override {
    const auto now = host.local_loads();
    if (host.rank().value() != 0 || now.empty()) return;
    costs.push_back(now.front().migration_cost);
    host.migrate(now.front().object, nacre::rank_id{1});
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  std::vector<double>& costs;
};

TEST(loads, tell_what_moving_costs_once_a_rank_has_moved_a_few_objects) {
  std::vector<double> costs;
  nacre::register_balancer("mover_of_the_test", [&](const nacre::config&) { return std::make_unique<mover>(costs); });
  nacre::config made;
  made.set("ranks", "2");
  made.set("workers", "1");
  made.set("balancer", "mover_of_the_test");
  EXPECT_EQ(nacre::run(made,
                       [](nacre::runtime& rt) {
                         std::vector<nacre::mobile_ptr<piece>> all;
                         for (int n = 0; rt.rank().value() == 0 && n < 12; ++n)
                           all.push_back(rt.create<piece>(0.0, 1.0));
                         for (const auto each : all) {
                           while (rt.is_local(each)) static_cast<void>(rt.call<&piece::been>(each).get());
                         }
                       }),
            0);
  ASSERT_GE(costs.size(), 12u);
  EXPECT_EQ(costs[3], 0);  // three have gone
  EXPECT_GT(costs.back(), 0);
  EXPECT_LT(costs.back(), 1e-3);
}

TEST(phases, without_balancing_nothing_moves_and_with_it_something_does) {
  std::vector<std::uint64_t> moved;
  run_simulated({{"ranks", "4"}, {"balancer", "steal"}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<piece>> all;
    for (int n = 0; rt.rank().value() == 0 && n < 32; ++n) all.push_back(rt.create<piece>(1e-3));
    for (const bool enabled : {false, true, false}) {
      rt.enable_balancing(enabled);
      rt.barrier();
      const std::uint64_t before = rt.counters().migrations_out;
      for (const auto each : all) rt.send<&piece::run>(each);
      rt.wait_quiescence();
      const std::uint64_t now = rt.all_reduce(rt.counters().migrations_out - before, std::plus<>{});
      if (rt.rank().value() == 0) moved.push_back(now);
    }
  });
  ASSERT_EQ(moved.size(), 3u);
  EXPECT_EQ(moved[0], 0u);
  EXPECT_GT(moved[1], 8u);
  EXPECT_EQ(moved[2], 0u);
}

/// Says when it runs.
struct urgent_piece {
  double urgency = 0;
  nacre::mobile_ptr<struct order_board> tell{};
  void run(nacre::context& ctx);
  double priority() const { return urgency; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(urgency, tell);
  }
};
struct order_board {
  std::vector<double> order{};
  void note(double of) { order.push_back(of); }
  std::vector<double> copy() const { return order; }
  double priority() const { return 1000; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(order);
  }
};
void urgent_piece::run(nacre::context& ctx) {
  ctx.charge(1e-3);
  ctx.send<&order_board::note>(tell, urgency);
}

std::vector<double> order_of_running(const std::string& scheduler) {
  std::vector<double> order;
  run_simulated({{"scheduler", scheduler}}, [&](nacre::runtime& rt) {
    const auto board = rt.create<order_board>();
    std::vector<nacre::mobile_ptr<urgent_piece>> all;
    for (const double urgency : {3.0, 0.0, 5.0, -1.0, 4.0}) all.push_back(rt.create<urgent_piece>(urgency, board));
    for (const auto each : all) rt.send<&urgent_piece::run>(each);
    rt.wait_quiescence();
    order = rt.call<&order_board::copy>(board).get();
  });
  return order;
}

TEST(priorities, the_most_urgent_object_runs_first_where_the_scheduler_heeds_them) {
  EXPECT_EQ(order_of_running("fifo"), (std::vector<double>{3, 0, 5, -1, 4}));
  EXPECT_EQ(order_of_running("priority"), (std::vector<double>{5, 4, 3, 0, -1}));
}

/// Every rank has one object, which runs so many messages of 100 us, one after the other. Returns the messages that
/// ranks have sent.
struct endless {
  int left = 0;
  void run(nacre::context& ctx) {
    ctx.charge(100e-6);
    if (--left != 0) ctx.send<&endless::run>(ctx.self<endless>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};
std::uint64_t sent_by_busy_ranks(const std::string& balancer, int turns) {
  std::uint64_t sent = 0;
  run_simulated({{"ranks", "4"}, {"balancer", balancer}}, [&](nacre::runtime& rt) {
    rt.send<&endless::run>(rt.create<endless>(turns));
    rt.wait_quiescence();
    sent += rt.counters().messages_sent;
  });
  return sent;
}

class silent_balancer : public testing::TestWithParam<const char*> {};

TEST_P(silent_balancer, sends_nothing_while_every_rank_works_however_long_that_is) {
  const auto extra = [](int turns) {
    return sent_by_busy_ranks(GetParam(), turns) - sent_by_busy_ranks("none", turns);
  };
  const std::uint64_t of_the_end = extra(20);  // when ranks have nothing left, they ask
  EXPECT_LE(of_the_end, 60u);
  EXPECT_LE(extra(400), of_the_end + 12) << "380 turns of 4 ranks more";
}

INSTANTIATE_TEST_SUITE_P(built_in, silent_balancer,
                         testing::Values("steal", "lifeline", "hierarchical", "diffusion", "gossip", "master_worker"),
                         [](const auto& each) { return std::string(each.param); });

/// A balancer ticks so often that millions of events pass while one message is under way, or one handler works.
settings ticking_for_ever() {
  return {{"ranks", "2"}, {"workers", "2"}, {"balancer", "steal"}, {"balance.tick", "1us"}};
}

TEST(balancing, does_not_make_slow_messages_and_handlers_look_like_a_standstill) {
  const char* const slow = nacre::tests::sanitized ? "100ms" : "1s";
  settings with = ticking_for_ever();
  with["sim.latency"] = slow;
  int answers = 0;
  run_simulated(with, [&](nacre::runtime& rt) {
    const auto patient = rt.create<piece>(nacre::tests::sanitized ? 0.1 : 3.0);
    if (rt.rank() == nacre::rank_id(0)) {
      rt.call<&piece::run>(patient).get();
      ++answers;
    }
    rt.barrier();
  });
  EXPECT_EQ(answers, 1);
}

/// Waits for itself: an exclusive handler has the object until it has returned.
struct hermit {
  void sign() {}
  nacre::task<int> wait(nacre::context& ctx) {
    co_await ctx.call<&hermit::sign>(ctx.self<hermit>());
    co_return 1;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(balancing, does_not_hide_a_standstill) {
  EXPECT_EXIT(run_simulated(ticking_for_ever(),
                            [](nacre::runtime& rt) {
                              const auto alone = rt.create<hermit>();
                              if (rt.rank() == nacre::rank_id(0)) rt.call<&hermit::wait>(alone).get();
                            }),
              testing::ExitedWithCode(1), "deadlock: nothing can happen any more, while main waits on rank 0");
}

/// Keeps what the rank says its load is, after all has been made.
struct weigher final : nacre::balancer {
  weigher(std::vector<double>& to, const bool& when) : sums(to), ready(when) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || !ready) return;
    for (int n = 0; n < 4; ++n) sums.push_back(host.total_load());
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  std::vector<double>& sums;
  const bool& ready;
};

TEST(loads, that_are_declared_and_stand_have_one_sum_however_many_they_are) {
  constexpr int pieces = 6000;
  std::vector<double> sums;
  bool ready = false;
  nacre::register_balancer("weigher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<weigher>(sums, ready); });
  run_simulated({{"ranks", "2"}, {"balancer", "weigher_of_the_test"}}, [&](nacre::runtime& rt) {
    for (int n = 1; rt.rank().value() == 0 && n <= pieces; ++n) {
      static_cast<void>(rt.create<piece>(0.0, static_cast<double>(n)));
    }
    if (rt.rank().value() == 0) ready = true;
    for (const double end = rt.now() + 20e-3; rt.now() < end;) continue;
  });
  ASSERT_FALSE(sums.empty());
  for (const double each : sums) EXPECT_NEAR(each, pieces * (pieces + 1) / 2.0, 1e-3);
}

TEST(loads, that_are_declared_count_once_though_their_objects_wait) {
  constexpr int pieces = 6000;
  std::vector<double> sums;
  bool ready = false;
  nacre::register_balancer("weigher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<weigher>(sums, ready); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "weigher_of_the_test"}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<piece>> all;
    for (int n = 1; rt.rank().value() == 0 && n <= pieces; ++n) {
      all.push_back(rt.create<piece>(10e-6, static_cast<double>(n)));
    }
    for (const auto each : all) rt.send<&piece::run>(each);
    if (rt.rank().value() == 0) ready = true;
    rt.wait_quiescence();
  });
  ASSERT_GE(sums.size(), 8u);
  for (const double each : sums) EXPECT_NEAR(each, pieces * (pieces + 1) / 2.0, 1e-3);
}

}  // namespace
