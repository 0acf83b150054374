// SPDX-License-Identifier: Apache-2.0
// The promises of parker, each as a sentence.
#include "base/parker.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace nacre {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto long_enough = 60s;  // a lost wake-up fails the test instead of hanging it

TEST(parker, a_token_left_before_makes_park_return_at_once) {
  parker place;
  place.unpark();
  EXPECT_TRUE(place.park_for(long_enough));
}

TEST(parker, tokens_do_not_add_up) {
  parker place;
  place.unpark();
  place.unpark();
  EXPECT_TRUE(place.park_for(0ns));
  EXPECT_FALSE(place.park_for(0ns));
}

TEST(parker, without_a_token_it_sleeps_for_the_whole_timeout) {
  parker place;
  const auto start = steady_clock::now();
  EXPECT_FALSE(place.park_for(3ms));
  EXPECT_GE(steady_clock::now() - start, 3ms);
  EXPECT_FALSE(place.park_for(-1s));
}

TEST(parker, hands_over_between_two_sleepers_without_losing_a_wake_up) {
  parker left, right;
  int turns = 0;  // not atomic: the parkers order the accesses
  constexpr int rounds = 3000;
  std::thread partner([&] {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(right.park_for(long_enough));
      ++turns;
      left.unpark();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    ++turns;
    right.unpark();
    ASSERT_TRUE(left.park_for(std::chrono::nanoseconds::max()));
  }
  partner.join();
  EXPECT_EQ(turns, 2 * rounds);
}

TEST(parker, a_wake_up_at_the_moment_of_the_timeout_is_neither_lost_nor_doubled) {
  parker sleeper, waker;
  constexpr int rounds = 3000;
  std::thread partner([&] {
    for (int i = 0; i < rounds; ++i) {
      sleeper.unpark();
      ASSERT_TRUE(waker.park_for(long_enough));
    }
  });
  for (int i = 0; i < rounds; ++i) {
    while (!sleeper.park_for(std::chrono::nanoseconds(i % 50) * 1000)) {
    }
    EXPECT_FALSE(sleeper.park_for(0ns));
    waker.unpark();
  }
  partner.join();
}

}  // namespace
}  // namespace nacre
