// SPDX-License-Identifier: Apache-2.0
// A congested rank drains, and yields bit by bit when nothing leaves.
#include "backplane/send_congestion.hpp"

#include <gtest/gtest.h>

namespace nacre {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(send_congestion, begins_above_the_bound_and_ends_at_half_of_it) {
  send_congestion under_test(1000);
  under_test.note_waiting(1000);
  EXPECT_FALSE(under_test.congested());
  under_test.note_waiting(1);
  EXPECT_TRUE(under_test.backpressure());
  under_test.note_left(500);
  EXPECT_TRUE(under_test.congested()) << "501 wait";
  under_test.note_left(1);
  EXPECT_FALSE(under_test.congested());
  EXPECT_EQ(under_test.waiting_bytes(), 500U);
}

TEST(send_congestion, yields_a_quarter_at_a_time_while_nothing_leaves) {
  send_congestion under_test(1000);
  under_test.note_waiting(1001);
  nanoseconds now(milliseconds(1));
  EXPECT_EQ(under_test.check(now), now + send_congestion::patience);
  now += send_congestion::patience;
  EXPECT_EQ(under_test.check(now), nanoseconds::max()) << "it yields; nothing to look for until more waits";
  EXPECT_FALSE(under_test.backpressure());
  EXPECT_TRUE(under_test.congested());
  under_test.note_waiting(250);
  static_cast<void>(under_test.check(now));
  EXPECT_FALSE(under_test.backpressure()) << "a quarter may be added";
  under_test.note_waiting(1);
  EXPECT_EQ(under_test.check(now), now + send_congestion::patience);
  EXPECT_TRUE(under_test.backpressure());
}

TEST(send_congestion, keeps_its_backpressure_while_bytes_leave) {
  send_congestion under_test(1000);
  under_test.note_waiting(2000);
  nanoseconds now{0};
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(under_test.backpressure());
    now = under_test.check(now);
    under_test.note_left(1);
  }
  EXPECT_TRUE(under_test.backpressure());
}

TEST(send_congestion, begins_anew_after_it_has_ended) {
  send_congestion under_test(1000);
  under_test.note_waiting(1001);
  static_cast<void>(under_test.check(nanoseconds{0}));
  under_test.note_left(1001);
  EXPECT_EQ(under_test.check(milliseconds(5)), nanoseconds::max());
  under_test.note_waiting(1001);
  EXPECT_EQ(under_test.check(milliseconds(20)), nanoseconds(milliseconds(20)) + send_congestion::patience);
  EXPECT_TRUE(under_test.backpressure()) << "the time before does not count";
}

}  // namespace
}  // namespace nacre
