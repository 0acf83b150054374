// SPDX-License-Identifier: Apache-2.0
// The promises of the random numbers, each as a sentence.

#include <array>
#include <cmath>
#include <cstddef>
#include <random>

#include <gtest/gtest.h>

#include <nacre/rng.hpp>

namespace nacre {
namespace {

TEST(rng, gives_the_published_sequence_of_its_algorithm) {
  rng random(0);
  EXPECT_EQ(random.next(), 11091344671253066420U);
  EXPECT_EQ(random.next(), 13793997310169335082U);
  EXPECT_EQ(random.next(), 1900383378846508768U);
  EXPECT_EQ(random.next(), 7684712102626143532U);
}

TEST(rng, below_stays_below_and_hits_every_value_about_equally_often) {
  rng random(42);
  std::array<int, 6> hits{};
  constexpr int throws = 60000;
  for (int i = 0; i < throws; ++i) ++hits.at(random.below(hits.size()));
  const double deviation = std::sqrt(throws / 6.0 * 5.0 / 6.0);
  for (const int hit : hits) EXPECT_NEAR(hit, throws / 6, 5 * deviation);
}

TEST(rng, below_is_unbiased_for_bounds_near_the_whole_range) {
  // Without rejection the lower third would be hit twice as often as the rest.
  constexpr std::uint64_t bound = 0xc000000000000000U;
  rng random(7);
  int lower = 0;
  for (int i = 0; i < 30000; ++i) lower += random.below(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(lower, 10000, 500);
}

TEST(rng, below_of_zero_and_one_is_zero) {
  rng random(1);
  EXPECT_EQ(random.below(0), 0U);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(rng, uniform_lies_in_the_half_open_unit_interval_with_mean_one_half) {
  rng random(3);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(rng, serves_the_distributions_of_the_standard_library) {
  static_assert(std::uniform_random_bit_generator<rng>);
  rng random(4);
  std::uniform_int_distribution<int> die(1, 6);
  std::array<int, 7> times{};
  for (int i = 0; i < 6000; ++i) ++times.at(static_cast<std::size_t>(die(random)));
  EXPECT_EQ(times[0], 0);
  for (std::size_t face = 1; face <= 6; ++face) EXPECT_NEAR(times.at(face), 1000, 200);
}

TEST(rng, streams_are_reproducible_and_leave_their_parent_where_it_was) {
  rng parent(9);
  rng untouched(9);
  rng first = parent.fork(1);
  rng again = parent.fork(1);
  rng second = parent.fork(2);
  EXPECT_EQ(parent.next(), untouched.next());
  const std::uint64_t number = first.next();
  EXPECT_EQ(number, again.next());
  EXPECT_NE(number, second.next());
}

}  // namespace
}  // namespace nacre
