// SPDX-License-Identifier: Apache-2.0
// An account of time keeps its bound for any sequence of draws.
#include "balance/time_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include <nacre/rng.hpp>

namespace nacre::balance {
namespace {

TEST(time_share, whatever_is_drawn_is_at_most_the_share_and_the_burst_and_the_last_draw) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    rng random(seed);
    const double share = 0.001 + 0.5 * random.uniform(), burst = random.uniform();
    time_share account(share, burst);
    double now = 0, drawn = 0, last = 0;
    for (int step = 0; step < 500; ++step) {
      now += random.uniform() * (random.below(10) == 0 ? 10 : 0.01);
      account.pass(now);
      if (account.overdrawn()) continue;
      last = random.uniform() * (random.below(20) == 0 ? 5 : 0.1);
      account.draw(last);
      drawn += last;
      ASSERT_LE(drawn, burst + share * now + last + 1e-9) << "seed " << seed;
    }
  }
}

TEST(time_share, is_not_overdrawn_any_more_when_it_says_so) {
  time_share account(0.01, 1e-3);
  account.pass(5);
  account.draw(3e-3);
  ASSERT_TRUE(account.overdrawn());
  EXPECT_NEAR(account.until_even(), 0.2, 1e-9);
  account.pass(5 + 0.9 * account.until_even());
  EXPECT_TRUE(account.overdrawn());
  account.pass(5.21);
  EXPECT_FALSE(account.overdrawn());
  EXPECT_EQ(account.until_even(), 0);
}

TEST(time_share, a_clock_that_goes_back_gives_nothing_twice) {
  time_share account(0.5, 1);
  account.draw(2);
  account.pass(1);
  account.pass(0);
  account.pass(1);
  EXPECT_NEAR(account.until_even(), 1, 1e-9);
}

}  // namespace
}  // namespace nacre::balance
