// SPDX-License-Identifier: Apache-2.0
// The promises of number_runs, each as a sentence.
#include <nacre/rng.hpp>

#include "mobile/array/number_runs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>

namespace nacre {
namespace {

TEST(number_runs, are_a_set_that_keeps_neighbours_together) {
  rng random(3);
  number_runs under_test(number_runs::no_bound);
  std::set<std::uint64_t> oracle;
  for (int round = 0; round < 3000; ++round) {
    const std::uint64_t number = random.below(400);
    under_test.insert(number);
    oracle.insert(number);
    const std::uint64_t first = random.below(400), last = first + random.below(6);
    bool all = true;
    for (std::uint64_t each = first; each <= last; ++each) all = all && oracle.contains(each);
    ASSERT_EQ(under_test.contains(first, last), all) << first << " to " << last;
  }
  std::size_t runs = 0;
  for (const std::uint64_t each : oracle) runs += oracle.contains(each - 1) ? 0 : 1;
  EXPECT_EQ(under_test.runs(), runs);
  EXPECT_FALSE(under_test.has_forgotten());
}

TEST(number_runs, keeps_runs_of_numbers_that_come_in_any_order) {
  constexpr std::size_t runs_max = 1024;
  number_runs range(runs_max);
  for (const std::uint64_t step : {4U, 2U, 0U, 3U, 1U}) range.insert(step);
  EXPECT_EQ(range.runs(), 1U);
  for (std::uint64_t step = 0; step < 5; ++step) EXPECT_TRUE(range.contains(step));
  EXPECT_TRUE(range.contains(0, 4));
  EXPECT_TRUE(range.contains(1, 3));
  EXPECT_FALSE(range.contains(3, 5));
  EXPECT_FALSE(range.contains(5));
  range.insert(~std::uint64_t{0});
  EXPECT_TRUE(range.contains(~std::uint64_t{0}));
  EXPECT_EQ(range.runs(), 2U);
  for (std::uint64_t step = 10; step < 20000; step += 2) range.insert(step);
  EXPECT_EQ(range.runs(), runs_max);
  EXPECT_TRUE(range.contains(19998));
}

TEST(number_runs, forget_the_lowest_run_beyond_their_bound_and_say_so) {
  number_runs under_test(3);
  for (const std::uint64_t number : {10U, 20U, 30U}) under_test.insert(number);
  EXPECT_FALSE(under_test.has_forgotten());
  under_test.insert(31);
  EXPECT_FALSE(under_test.has_forgotten()) << "it lies beside another one";
  under_test.insert(40);
  EXPECT_TRUE(under_test.has_forgotten());
  EXPECT_FALSE(under_test.contains(10));
  EXPECT_TRUE(under_test.contains(20) && under_test.contains(30, 31) && under_test.contains(40));
  for (std::uint64_t number = 21; number < 40; ++number) under_test.insert(number);
  EXPECT_EQ(under_test.runs(), 1U);
  EXPECT_TRUE(under_test.has_forgotten()) << "for ever: an image would wait for what was forgotten";
}

}  // namespace
}  // namespace nacre
