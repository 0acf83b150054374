// SPDX-License-Identifier: Apache-2.0
// The loads of objects that a balancer sees: declared, measured, estimated, and what moving costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace {

using nacre::tests::piece;
using nacre::tests::plain;
using nacre::tests::run_simulated;

/// Keeps what the rank has shown at each tick.
struct watcher final : nacre::balancer {
  using log = std::vector<std::vector<nacre::object_load>>;
  explicit watcher(log& record) : seen(record) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0) return;  // ranks may be threads
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

/// Does long and short things.
struct versatile {
  double factor = 1;

  void compute(nacre::context& ctx) { ctx.charge(0.2 * factor); }
  void note(nacre::context& ctx) { ctx.charge(1e-5); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(factor);
  }
};

TEST(loads, are_what_waits_and_not_what_an_object_did_before) {
  watcher::log seen;
  nacre::register_balancer("watcher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<watcher>(seen); });
  run_simulated({{"balancer", "watcher_of_the_test"}, {"scheduler", "fifo"}}, [](nacre::runtime& rt) {
    const auto usual = rt.create<versatile>(1.0), heavy = rt.create<versatile>(3.0), busy = rt.create<versatile>(1.0);
    for (int turn = 0; turn < 12; ++turn) {
      for (const auto& each : {usual, heavy}) {
        rt.send<&versatile::compute>(each);
        rt.wait_quiescence();
        for (int n = 0; n < 5; ++n) rt.send<&versatile::note>(each);
        rt.wait_quiescence();
      }
    }
    rt.send<&versatile::compute>(busy);  // so that the others wait
    rt.send<&versatile::note>(usual);
    for (int n = 0; n < 4; ++n) rt.send<&versatile::note>(heavy);
    rt.send<&versatile::compute>(heavy);
  });
  bool is_found = false;
  for (const auto& each : seen) {
    if (each.size() < 2 || each[0].messages != 1 || each[1].messages != 5) continue;
    is_found = true;
    EXPECT_LT(each[0].load, 1e-4) << "it has only a note to take";
    EXPECT_NEAR(each[1].load, 0.6, 0.1) << "its next computation takes three times as long as the others'";
  }
  EXPECT_TRUE(is_found);
}

/// On threads several messages of an object run in one step; steps of several handlers must teach what each takes.
TEST(loads, of_an_object_whose_handlers_take_turns_are_measured_on_threads) {
  double most = 0;
  watcher::log seen;
  nacre::register_balancer("watcher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<watcher>(seen); });
  nacre::config configuration;
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"ranks", "2"}, {"workers", "1"}, {"transport", "inproc"}, {"balancer", "watcher_of_the_test"}}) {
    configuration.set(name, value);
  }
  EXPECT_EQ(nacre::run(configuration,
                       [](nacre::runtime& rt) {
                         if (rt.rank().value() != 0) return;
                         const auto object = rt.create<versatile>(1.0);
                         for (int n = 0; n < 100'000; ++n) {
                           rt.send<&versatile::compute>(object);
                           rt.send<&versatile::note>(object);
                         }
                       }),
            0);
  for (const auto& each : seen) {
    for (const nacre::object_load& load : each) {
      if (load.messages > 20) most = std::max(most, load.load / load.messages);
    }
  }
  EXPECT_GT(most, 0.02) << "half of the messages charge 0.2 s";
}

constexpr int brief_objects = 40;
std::atomic<bool> all_seen{false}, held{false};

/// Has messages so short that few of them are measured, and one that keeps the worker until all waiting ones were seen.
struct brief {
  int touched = 0;
  void touch() { ++touched; }
  void other() { --touched; }
  void hold() {
    held = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!all_seen && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(touched);
  }
};

/// Keeps what it knows of them the first time that all wait.
struct counter_of_unknown final : nacre::balancer {
  explicit counter_of_unknown(int& target) : unknown(target) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || !held || all_seen) return;
    const auto now = host.local_loads();
    const auto waits = [](const nacre::object_load& load) { return load.messages == 1 && !load.running; };
    if (std::count_if(now.begin(), now.end(), waits) < brief_objects) return;
    unknown = static_cast<int>(std::count_if(
        now.begin(), now.end(), [&](const nacre::object_load& load) { return waits(load) && !(load.seconds > 0); }));
    all_seen = true;
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  int& unknown;
};

/// How many of the waiting objects are of unknown load, when all have run a short message before.
template <auto Next>
int unknown_before() {
  all_seen = held = false;
  int unknown = -1;
  nacre::register_balancer("counter_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<counter_of_unknown>(unknown); });
  nacre::config configuration;
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"ranks", "2"}, {"workers", "1"}, {"transport", "inproc"}, {"balancer", "counter_of_the_test"}}) {
    configuration.set(name, value);
  }
  EXPECT_EQ(nacre::run(configuration,
                       [](nacre::runtime& rt) {
                         if (rt.rank().value() != 0) return;
                         std::vector<nacre::mobile_ptr<brief>> all;
                         for (int n = 0; n < brief_objects; ++n) all.push_back(rt.create<brief>());
                         for (const auto each : all) static_cast<void>(rt.call<&brief::touch>(each).get());
                         rt.send<&brief::hold>(rt.create<brief>());
                         while (!held) std::this_thread::yield();
                         for (const auto each : all) rt.send<Next>(each);
                         while (!all_seen) std::this_thread::yield();
                       }),
            0);
  return unknown;
}

/// Of eleven short messages one is measured. The objects of the others are as all, and not of unknown load: balancers
/// would move them all.
TEST(loads, an_object_that_was_not_measured_when_it_ran_is_taken_for_what_others_cost) {
  EXPECT_LE(unknown_before<&brief::touch>(), brief_objects / 4);
}

/// The work of a program may come after a short beginning.
TEST(loads, a_message_to_another_handler_than_before_is_of_unknown_cost) {
  EXPECT_EQ(unknown_before<&brief::other>(), brief_objects);
}

TEST(loads, what_waits_for_an_object_is_seen_after_its_first_turn_too) {
  watcher::log seen;
  nacre::register_balancer("watcher_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<watcher>(seen); });
  run_simulated({{"balancer", "watcher_of_the_test"}}, [](nacre::runtime& rt) {
    const auto first = rt.create<plain>(0.25), second = rt.create<plain>(0.25);
    for (int n = 0; n < 4; ++n) rt.send<&plain::run>(first);
    rt.send<&plain::run>(second);
  });
  bool is_found = false;
  for (const auto& each : seen) {
    for (const nacre::object_load& load : each)
      is_found = is_found || (!load.running && load.seconds > 0 && load.messages == 3);
  }
  EXPECT_TRUE(is_found);
}

/// Sends one object away at each tick, and keeps what moving was said to cost before.
struct mover final : nacre::balancer {
  explicit mover(std::vector<double>& values) : costs(values) {}
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
  nacre::config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  configuration.set("balancer", "mover_of_the_test");
  EXPECT_EQ(nacre::run(configuration,
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

/// Keeps what the rank says its load is, after all has been made.
struct weigher final : nacre::balancer {
  weigher(std::vector<double>& values, const bool& is_due) : sums(values), ready(is_due) {}
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

/// Declares a load, and refuses to move.
struct rooted {
  double declared = 0;
  double load() const { return declared; }
  bool may_migrate() const { return false; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(declared);
  }
};

TEST(loads, of_objects_that_refuse_to_move_are_in_the_sum_of_their_rank) {
  for (const int pieces : {10, 6000}) {  // 6000: more than one walk sees
    std::vector<double> sums;
    bool ready = false;
    nacre::register_balancer("weigher_of_the_test",
                             [&](const nacre::config&) { return std::make_unique<weigher>(sums, ready); });
    run_simulated({{"ranks", "2"}, {"balancer", "weigher_of_the_test"}}, [&](nacre::runtime& rt) {
      for (int n = 0; rt.rank().value() == 0 && n < pieces; ++n) {
        static_cast<void>(rt.create<piece>(0.0, 1.0));
        static_cast<void>(rt.create<rooted>(3.0));
      }
      if (rt.rank().value() == 0) ready = true;
      for (const double end = rt.now() + 20e-3; rt.now() < end;) continue;
    });
    ASSERT_FALSE(sums.empty());
    for (const double each : sums) EXPECT_NEAR(each, 4.0 * pieces, 1e-6);
  }
}

/// Keeps the candidates that a rank shows, and what it says of all.
struct chooser final : nacre::balancer {
  chooser(std::vector<std::vector<nacre::object_load>>& values, const bool& is_due) : chosen(values), ready(is_due) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || !ready) return;
    const auto now = host.candidates(8, nacre::candidate_kind::any);
    chosen.emplace_back(now.begin(), now.end());
    EXPECT_LE(host.local_loads().size(), 3u) << "what cannot leave is nothing to choose from";
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  std::vector<std::vector<nacre::object_load>>& chosen;
  const bool& ready;
};

TEST(loads, of_objects_that_refuse_to_move_hide_no_lighter_ones_that_may) {
  std::vector<std::vector<nacre::object_load>> chosen;
  bool ready = false;
  nacre::register_balancer("chooser_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<chooser>(chosen, ready); });
  run_simulated({{"ranks", "2"}, {"balancer", "chooser_of_the_test"}}, [&](nacre::runtime& rt) {
    for (int n = 0; rt.rank().value() == 0 && n < 300; ++n) static_cast<void>(rt.create<rooted>(16.0));
    for (int n = 0; rt.rank().value() == 0 && n < 3; ++n) static_cast<void>(rt.create<piece>(0.0, 1.0));
    if (rt.rank().value() == 0) ready = true;
    for (const double end = rt.now() + 20e-3; rt.now() < end;) continue;
  });
  ASSERT_FALSE(chosen.empty());
  for (const auto& each : chosen) EXPECT_EQ(each.size(), 3u);
}

/// Keeps a table of loads by what it is told.
struct bookkeeper final : nacre::balancer {
  using table = std::map<nacre::object_id, double>;
  explicit bookkeeper(std::vector<std::size_t>& counts) : sizes(counts) {}
  void on_load(const nacre::object_load& changed) override {
    known[changed.object] = changed.load;
    if (changed.load == 0) known.erase(changed.object);
  }
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() == 0) sizes.push_back(known.size());
  }
  table known;
  std::vector<std::size_t>& sizes;
};

TEST(loads, of_objects_that_have_run_or_ended_are_told_as_nothing) {
  std::vector<std::size_t> sizes;
  nacre::register_balancer("bookkeeper_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<bookkeeper>(sizes); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "bookkeeper_of_the_test"}}, [&](nacre::runtime& rt) {
    if (rt.rank().value() == 0) {
      std::vector<nacre::mobile_ptr<plain>> all;
      for (int n = 0; n < 20; ++n) all.push_back(rt.create<plain>(1e-3));
      for (const auto each : all) rt.send<&plain::run>(each);
      const auto declaring = rt.create<piece>(0.0, 5.0);
      rt.wait_quiescence();
      rt.destroy(declaring);
    }
    rt.wait_quiescence();
    rt.sleep(1.0).wait();
  });
  ASSERT_FALSE(sizes.empty());
  EXPECT_GE(*std::max_element(sizes.begin(), sizes.end()), 20u);
  EXPECT_EQ(sizes.back(), 0u);
}

}  // namespace
