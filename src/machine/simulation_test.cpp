// SPDX-License-Identifier: Apache-2.0
// The promises of virtual time, each as a sentence.
#include "machine/simulation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

/// Records each event that ran and its time.
struct journal {
  simulation* clock;
  std::vector<std::pair<std::int64_t, std::uint64_t>> entries{};

  static void note(void* self, std::uint64_t number) {
    auto& mine = *static_cast<journal*>(self);
    mine.entries.emplace_back(mine.clock->now().count(), number);
  }
};

TEST(simulation, now_is_the_time_of_the_running_event_plus_what_it_has_spent) {
  simulation clock({.seed = 1});
  std::vector<std::int64_t> seen;
  struct subject {
    simulation& clock;
    std::vector<std::int64_t>& seen;
  } mine{clock, seen};
  const auto work = [](void* self, std::uint64_t ns) {
    auto& [machine, times] = *static_cast<subject*>(self);
    times.push_back(machine.now().count());
    machine.spend(nanoseconds(ns));
    machine.spend(nanoseconds(1));
    times.push_back(machine.now().count());
    times.push_back(machine.event_time().count());
  };
  clock.at(nanoseconds(100), work, &mine, 50);
  clock.at(nanoseconds(110), work, &mine, 0);
  while (clock.step()) {
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{100, 151, 100, 110, 111, 110}));
}

TEST(simulation, an_activity_that_has_spent_time_may_plan_from_its_start_on) {
  simulation clock({.seed = 1});
  journal record{&clock};
  struct subject {
    simulation& clock;
    journal& record;
  } mine{clock, record};
  const auto plan = [](void* self, std::uint64_t) {
    auto& [machine, notes] = *static_cast<subject*>(self);
    machine.spend(nanoseconds(500));
    machine.at(machine.now(), &journal::note, &notes, 2);
    machine.at(machine.event_time(), &journal::note, &notes, 1);
  };
  clock.at(nanoseconds(10), plan, &mine, 0);
  while (clock.step()) {
  }
  EXPECT_EQ(record.entries, (std::vector<std::pair<std::int64_t, std::uint64_t>>{{10, 1}, {510, 2}}));
}

TEST(simulation, step_says_when_nothing_is_left) {
  simulation clock({.seed = 1});
  EXPECT_FALSE(clock.step());
  journal record{&clock};
  clock.at(nanoseconds(5), &journal::note, &record, 0);
  EXPECT_EQ(clock.pending(), 1U);
  EXPECT_TRUE(clock.step());
  EXPECT_FALSE(clock.step());
  EXPECT_EQ(clock.events(), 1U);
  EXPECT_EQ(clock.now(), nanoseconds(5));
}

/// A random program: each event plans up to three others, many of them at equal times.
struct random_program {
  simulation clock;
  std::uint64_t planned = 0;
  static constexpr std::uint64_t planned_max = 5000;

  explicit random_program(std::uint64_t seed) : clock({.seed = seed}) { plan(nanoseconds(0)); }

  void plan(nanoseconds time) { clock.at(time, &run, this, planned++); }

  static void run(void* self, std::uint64_t number) {
    auto& mine = *static_cast<random_program*>(self);
    mine.clock.trace(number);
    for (std::uint64_t i = 0; i < 3 && mine.planned < planned_max; ++i) {
      mine.plan(mine.clock.now() + nanoseconds(mine.clock.random().below(4) * 10));
    }
  }

  [[nodiscard]] std::uint64_t hash_at_end() {
    while (clock.step()) {
    }
    EXPECT_EQ(clock.events(), planned_max);
    return clock.trace_hash();
  }
};

TEST(simulation, the_same_seed_gives_the_same_trace_and_another_seed_another) {
  const std::uint64_t first = random_program(1).hash_at_end();
  EXPECT_EQ(random_program(1).hash_at_end(), first);
  for (std::uint64_t seed = 2; seed < 20; ++seed) EXPECT_NE(random_program(seed).hash_at_end(), first);
}

TEST(simulation, the_trace_hash_tells_times_and_words_and_their_order_apart) {
  const auto hash_of = [](nanoseconds time, std::uint64_t first, std::uint64_t second) {
    simulation clock({.seed = 1});
    journal record{&clock};
    clock.at(time, &journal::note, &record, 0);
    EXPECT_TRUE(clock.step());
    clock.trace(first, second);
    return clock.trace_hash();
  };
  const std::uint64_t reference = hash_of(nanoseconds(10), 1, 2);
  EXPECT_EQ(hash_of(nanoseconds(10), 1, 2), reference);
  EXPECT_NE(hash_of(nanoseconds(11), 1, 2), reference);
  EXPECT_NE(hash_of(nanoseconds(10), 2, 1), reference);
  EXPECT_NE(hash_of(nanoseconds(10), 1, 3), reference);
}

TEST(simulation_death, time_cannot_be_given_back_and_events_do_not_nest) {
  simulation clock({.seed = 1});
  EXPECT_DEATH(clock.spend(nanoseconds(-1)), "given back");
  clock.at(
      nanoseconds(1), [](void* self, std::uint64_t) { static_cast<simulation*>(self)->step(); }, &clock, 0);
  EXPECT_DEATH(clock.step(), "inside itself");
}

}  // namespace
}  // namespace nacre::machine
