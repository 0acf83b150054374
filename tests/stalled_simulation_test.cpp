// SPDX-License-Identifier: Apache-2.0
// When a simulation is said not to get on, look by look.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/simulation_watch.hpp"

namespace nacre::tests {
namespace {

using finding = stalled_simulation::finding;
using std::chrono::nanoseconds;

/// The findings of as many looks at numbers that grow by so much from look to look, without those that say nothing.
std::vector<finding> looks(stalled_simulation& stalled_simulation, stalled_simulation::numbers& now, unsigned count,
                           std::uint64_t events, nanoseconds time) {
  std::vector<finding> all;
  for (unsigned look = 0; look < count; ++look) {
    now.events += events;
    now.instant += time;
    if (const finding one = stalled_simulation.look(now); one != finding::none) all.push_back(one);
  }
  return all;
}

constexpr unsigned patience = stalled_simulation::looks_in_patience;

TEST(stalled_simulation, is_one_in_which_an_event_has_not_ended_for_the_patience) {
  stalled_simulation position;
  stalled_simulation::numbers now;
  EXPECT_TRUE(looks(position, now, 10, 5, nanoseconds(3)).empty()) << "it gets on";
  EXPECT_TRUE(looks(position, now, patience - 1, 0, nanoseconds(0)).empty()) << "too early";
  EXPECT_EQ(looks(position, now, 20, 0, nanoseconds(0)), std::vector{finding::event_runs}) << "once";
  EXPECT_EQ(looks(position, now, 20, 1, nanoseconds(1)), std::vector{finding::goes_on});
  EXPECT_EQ(looks(position, now, 20, 0, nanoseconds(0)), std::vector{finding::event_runs}) << "again";
}

TEST(stalled_simulation, is_one_in_which_events_follow_each_other_at_one_instant) {
  stalled_simulation position;
  stalled_simulation::numbers now;
  EXPECT_EQ(looks(position, now, patience, 7, nanoseconds(0)).size(), 0U) << "too early";
  EXPECT_EQ(looks(position, now, 20, 7, nanoseconds(0)), std::vector{finding::time_stands_still});
  EXPECT_GE(position.events_here(), 20U * 7U);
  EXPECT_EQ(looks(position, now, 20, 7, nanoseconds(1)), std::vector{finding::goes_on});
}

TEST(stalled_simulation, is_none_whose_long_events_end_or_that_has_many_events_at_each_instant) {
  stalled_simulation position;
  stalled_simulation::numbers now;
  for (int times = 0; times < 20; ++times) {
    EXPECT_TRUE(looks(position, now, patience - 1, 0, nanoseconds(0)).empty());
    EXPECT_TRUE(looks(position, now, 1, 1, nanoseconds(1)).empty());
    EXPECT_TRUE(looks(position, now, patience - 1, 9, nanoseconds(0)).empty());
    EXPECT_TRUE(looks(position, now, 1, 1, nanoseconds(1)).empty());
  }
}

}  // namespace
}  // namespace nacre::tests
