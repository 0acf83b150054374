// SPDX-License-Identifier: Apache-2.0
// The promises of poll_interval: when it is due, and when not yet.
#include "base/poll_interval.hpp"

#include <gtest/gtest.h>

namespace nacre {
namespace {

TEST(poll_interval, is_due_at_first_and_then_not_before_its_time) {
  poll_interval slow(std::chrono::hours(1));
  EXPECT_TRUE(slow.due());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(slow.due());
}

TEST(poll_interval, is_due_again_after_its_time_and_counts_from_then) {
  constexpr std::chrono::milliseconds apart(2);
  const auto begin = std::chrono::steady_clock::now();
  poll_interval some(apart);
  int times = 0;
  while (times < 20) times += some.due() ? 1 : 0;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 19 * apart * 0.99)
      << "the counter may be some parts per million off";
}

TEST(poll_interval, that_is_begun_anew_is_not_due_until_its_time_is_over) {
  poll_interval slow(std::chrono::hours(1));
  slow.restart();
  EXPECT_FALSE(slow.due());
}

TEST(poll_interval, of_nothing_is_always_due) {
  poll_interval always(std::chrono::nanoseconds(0));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(always.due());
}

}  // namespace
}  // namespace nacre
