// SPDX-License-Identifier: Apache-2.0
// Estimates of what messages take, by handler and by object.
#include "mobile/object/handler_costs.hpp"

#include <gtest/gtest.h>

namespace nacre {
namespace {

TEST(compact_estimate, of_a_sum_of_many_small_values_is_right) {
  compact_estimate sum;
  for (std::uint32_t number = 1; number <= 100'000; ++number) sum.add(1e-7, number);
  EXPECT_NEAR(sum.load(), 1e-2, 1e-3);
}

TEST(compact_estimate, of_a_value_is_right_to_one_part_in_256) {
  compact_estimate one;
  for (const double value : {0.0, 1e-9, 0.3, 7.0, 1e6}) {
    one.store(value);
    EXPECT_NEAR(one.load(), value, value / 256);
  }
}

TEST(handler_costs, tell_the_mean_of_a_handler_and_nothing_of_others) {
  handler_costs costs(3, 1);
  EXPECT_EQ(costs.of(1), 0);
  static_cast<void>(costs.learn(0, 1, 4e-3, 1, 0));
  EXPECT_NEAR(costs.of(1), 4e-3, 4e-3 / 100);
  for (int step = 0; step < 200; ++step) static_cast<void>(costs.learn(0, 1, 1e-3, 8, 0));
  EXPECT_NEAR(costs.of(1), 1e-3, 1e-3 / 7);  // small changes are not published
  EXPECT_EQ(costs.of(2), 0);
}

/// A step that an interrupt or another program has disturbed must not make all objects of the rank look heavy.
TEST(handler_costs, one_disturbed_step_changes_little) {
  handler_costs costs(2, 1);
  for (int step = 0; step < 100; ++step) static_cast<void>(costs.learn(0, 1, 1e-6, 1, 1));
  static_cast<void>(costs.learn(0, 1, 8e-6, 1, 1));
  EXPECT_LT(costs.of(1), 1.3e-6);
}

TEST(handler_costs, take_any_number_of_a_handler_from_a_peer) {
  handler_costs costs(3, 1);
  EXPECT_EQ(costs.of(3), 0);
  EXPECT_EQ(costs.learn(0, 3, 1.0, 1, 2.0), 2.0);
  EXPECT_EQ(costs.of(~0U), 0);
}

/// Many objects of one class, of which one takes four times as long as the others.
TEST(handler_costs, find_the_pace_of_an_object) {
  handler_costs costs(2, 1);
  double pace = 0;
  for (int round = 0; round < 30; ++round) {
    for (int other = 0; other < 50; ++other) static_cast<void>(costs.learn(0, 1, 1e-3, 1, 1));
    pace = costs.learn(0, 1, 4e-3, 1, pace);
  }
  EXPECT_NEAR(pace, 4, 0.6);
}

/// Short messages take about as long on every object: they must not hide that it is large.
TEST(handler_costs, short_handlers_say_nothing_about_the_pace_of_an_object) {
  handler_costs costs(3, 1);
  double pace = 0;
  for (int round = 0; round < 30; ++round) {
    for (int other = 0; other < 50; ++other) static_cast<void>(costs.learn(0, 1, 1e-3, 1, 1));
    pace = costs.learn(0, 1, 4e-3, 1, pace);
    for (int note = 0; note < 100; ++note) pace = costs.learn(0, 2, 1e-7, 1, pace);
  }
  EXPECT_NEAR(pace, 4, 0.6);
}

/// Else balancers would take it for an object of which nothing is known, and move it.
TEST(handler_costs, an_object_that_has_run_only_a_short_message_is_taken_for_as_large_as_others) {
  handler_costs costs(3, 1);
  EXPECT_EQ(costs.learn(0, 1, 1e-3, 1, 1), 1);
  const double after_a_short_one = costs.learn(0, 2, 1e-7, 1, 0);
  EXPECT_EQ(handler_costs::factor(after_a_short_one), 1);
  EXPECT_FALSE(handler_costs::is_known(after_a_short_one));
  EXPECT_TRUE(handler_costs::is_known(costs.learn(0, 1, 2e-3, 1, after_a_short_one)));
}

}  // namespace
}  // namespace nacre
