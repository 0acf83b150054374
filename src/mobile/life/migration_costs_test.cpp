// SPDX-License-Identifier: Apache-2.0
// What is known of the costs of migrations.
#include "mobile/life/migration_costs.hpp"

#include <gtest/gtest.h>

namespace {

using nacre::migration_costs;

constexpr std::size_t small = 100, large = 1'000'000, larger = 100'000'000;
constexpr int few = 4;

void learn(migration_costs& costs, std::size_t bytes, double seconds) {
  for (int n = 0; n < few; ++n) costs.learn(bytes, seconds);
}

TEST(migration_costs, are_unknown_before_a_few_objects_have_left) {
  migration_costs costs;
  for (int n = 1; n < few; ++n) costs.learn(small, 1e-6);
  EXPECT_EQ(costs.of(small), 0);
  costs.learn(small, 1e-6);
  EXPECT_DOUBLE_EQ(costs.of(small), 1e-6);
}

TEST(migration_costs, are_the_least_of_each_range_and_grow_with_bytes_where_objects_are_large) {
  migration_costs costs;
  learn(costs, small, 2e-6);
  costs.learn(2 * small, 1e-6);
  learn(costs, large, 2e-3);
  costs.learn(large / 2, 0.5e-3);
  EXPECT_DOUBLE_EQ(costs.of(0), 1e-6);
  EXPECT_DOUBLE_EQ(costs.of(migration_costs::large_bytes_min - 1), 1e-6);
  EXPECT_DOUBLE_EQ(costs.of(large), 1e-3);
  EXPECT_DOUBLE_EQ(costs.of(large / 2), 0.5e-3);
}

TEST(migration_costs, of_a_range_without_migrations_are_those_of_the_next_smaller_one) {
  migration_costs costs;
  learn(costs, larger, 1);
  EXPECT_EQ(costs.of(large), 0);
  learn(costs, small, 1e-6);
  EXPECT_DOUBLE_EQ(costs.of(large), 1e-6);
  learn(costs, migration_costs::large_bytes_min, 16e-6);
  EXPECT_NEAR(costs.of(large), 1e-3, 0.1e-3);
  EXPECT_DOUBLE_EQ(costs.of(larger), 1);
}

TEST(migration_costs, of_the_longest_message_are_known) {
  migration_costs costs;
  learn(costs, std::size_t{1} << 31, 4);
  EXPECT_DOUBLE_EQ(costs.of(std::size_t{1} << 30), 2);
}

TEST(migration_costs, are_weighed_against_work_that_has_been_measured) {
  EXPECT_TRUE(nacre::worth_migration(4, 1));
  EXPECT_FALSE(nacre::worth_migration(3.9, 1));
  EXPECT_TRUE(nacre::worth_migration(0, 1));
}

}  // namespace
