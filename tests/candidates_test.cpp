// SPDX-License-Identifier: Apache-2.0
// The objects that a balancer is shown: each once, and only those for which something waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace {

using nacre::tests::plain;
using nacre::tests::run_simulated;

/// 20 objects wait on rank 0 of two, whose workers are one each, while a balancer looks a few times.
void let_objects_wait(const std::string& balancer, const char* scheduler) {
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"scheduler", scheduler}, {"balancer", balancer}},
                [](nacre::runtime& rt) {
                  for (int n = 0; rt.rank().value() == 0 && n < 20; ++n) {
                    rt.send<&plain::run>(rt.create<plain>(10e-6));
                  }
                });
}

/// Sends what waits to where it is: it waits again, and its item of before is stale.
struct repeating final : nacre::balancer {
  struct found {
    std::size_t count = 0;
    int repeated = 0;
  };
  explicit repeating(found& match) : seen(match) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || ++ticks > 4) return;
    const auto waiting = host.candidates(16);
    const std::vector<nacre::object_load> all(waiting.begin(), waiting.end());
    std::vector<std::uint64_t> ids;
    for (const nacre::object_load& each : all) ids.push_back(each.object.value());
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) ++seen.repeated;
    seen.count += ids.size();
    for (const nacre::object_load& each : all) host.migrate(each.object, host.rank());
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  found& seen;
  int ticks = 0;
};

TEST(candidates, have_an_object_once_that_waits_by_a_stale_item_and_by_another) {
  for (const char* scheduler : {"steal", "lifo", "shared", "priority"}) {
    repeating::found seen;
    nacre::register_balancer("repeating_of_the_test",
                             [&](const nacre::config&) { return std::make_unique<repeating>(seen); });
    let_objects_wait("repeating_of_the_test", scheduler);
    EXPECT_GT(seen.count, 20u) << scheduler;
    EXPECT_EQ(seen.repeated, 0) << scheduler;
  }
}

/// Sends what waits to where it is, and counts what waits before and after that.
struct turning final : nacre::balancer {
  struct found {
    int more = 0, without_messages = 0, looks = 0;
  };
  explicit turning(found& match) : seen(match) {}
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || ++ticks > 4) return;
    const auto waiting = host.candidates(16);
    const std::vector<nacre::object_load> all(waiting.begin(), waiting.end());
    seen.without_messages += static_cast<int>(
        std::count_if(all.begin(), all.end(), [](const nacre::object_load& each) { return each.messages == 0; }));
    const std::size_t previous = host.summary().waiting;
    for (const nacre::object_load& each : all) host.migrate(each.object, host.rank());
    if (host.summary().waiting > previous) ++seen.more;
    if (!all.empty()) ++seen.looks;
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  found& seen;
  int ticks = 0;
};

TEST(tickets, that_are_stale_neither_count_as_work_nor_show_an_object_for_which_nothing_waits) {
  for (const char* scheduler : {"steal", "lifo", "shared", "priority"}) {
    turning::found seen;
    nacre::register_balancer("turning_of_the_test",
                             [&](const nacre::config&) { return std::make_unique<turning>(seen); });
    let_objects_wait("turning_of_the_test", scheduler);
    EXPECT_GE(seen.looks, 2) << scheduler;
    EXPECT_EQ(seen.more, 0) << scheduler << ": the same objects wait";
    EXPECT_EQ(seen.without_messages, 0) << scheduler;
  }
}

/// Declares a load, and works.
struct stone {
  void work(nacre::context& ctx) { ctx.charge(10e-6); }
  [[nodiscard]] double load() const { return 2; }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Looks for what may leave.
struct looking final : nacre::balancer {
  explicit looking(repeating::found& match) : seen(match) {}
  void on_tick(nacre::balancer_host& host) override {
    std::vector<std::uint64_t> ids;
    for (const auto& each : host.candidates(64, nacre::candidate_kind::any)) ids.push_back(each.object.value());
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) ++seen.repeated;
    seen.count = std::max(seen.count, ids.size());
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  repeating::found& seen;
};

TEST(candidates, have_an_object_once_that_waits_and_declares_a_load) {
  repeating::found seen;
  nacre::register_balancer("looking_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<looking>(seen); });
  run_simulated({{"ranks", "2"}, {"workers", "1"}, {"balancer", "looking_of_the_test"}}, [&](nacre::runtime& rt) {
    std::vector<nacre::mobile_ptr<stone>> all;
    for (int n = 0; rt.rank().value() == 0 && n < 20; ++n) all.push_back(rt.create<stone>());
    for (int n = 0; n < 10; ++n) {
      for (const auto each : all) rt.send<&stone::work>(each);
    }
  });
  EXPECT_GE(seen.count, 16u);
  EXPECT_EQ(seen.repeated, 0);
}

}  // namespace
