// SPDX-License-Identifier: Apache-2.0
// Recorders of short handlers, which share readings of the clock.
#include "trace/recorder_test_kit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::trace {
namespace {

TEST_F(recorders, of_short_handlers_read_the_clock_three_times_for_sixteen) {
  for (int each = 0; each < 160; ++each) run(1, 100, 20);
  EXPECT_EQ(readings, 30);
  close();
  ASSERT_EQ(spans_.size(), 160U);
  for (std::int64_t each = 0; each < 160; ++each) {
    EXPECT_EQ(spans_[static_cast<std::size_t>(each)],
              (span{120 * each, 120 * each + 100, 1, event_kind::handler_begin}));
  }
}

TEST_F(recorders, share_readings_among_as_many_as_take_two_microseconds) {
  for (int each = 0; each < 8; ++each) run(2, 500);
  EXPECT_EQ(readings, 6);
  for (int each = 0; each < 4; ++each) run(3, 1500);
  EXPECT_EQ(readings, 6 + 8) << "two would take three";
  close();
  ASSERT_EQ(spans_.size(), 12U);
  EXPECT_EQ(spans_[7], (span{3500, 4000, 2, event_kind::handler_begin}));
  EXPECT_EQ(spans_[11], (span{8500, 10000, 3, event_kind::handler_begin}));
}

TEST_F(recorders, share_nothing_when_that_is_not_wanted) {
  open(1 << 16, 0);
  for (int each = 0; each < 100; ++each) run(1, each % 3 == 0 ? 7 : 50, 3);
  EXPECT_EQ(readings, 200);
  close();
  EXPECT_EQ(spans_.size(), 100U);
  EXPECT_EQ(spans_[3], (span{3 * 3 + 7 + 50 + 50, 3 * 3 + 2 * 7 + 50 + 50, 1, event_kind::handler_begin}));
}

TEST_F(recorders, show_a_long_handler_that_hides_among_short_ones_once_and_measure_the_next) {
  for (int each = 0; each < 16; ++each) run(1, each == 5 ? 1'000'000 : 100, 20);
  for (int each = 0; each < 16; ++each) run(1, each == 5 ? 1'000'000 : 100, 20);
  close();
  ASSERT_EQ(spans_.size(), 32U);
  EXPECT_EQ(spans_[14].end - spans_[14].begin, 100);
  EXPECT_NEAR(static_cast<double>(spans_[15].end - spans_[15].begin), 1'000'000, 15 * 20);
  EXPECT_NEAR(static_cast<double>(spans_[15].begin), 5 * 120, 10 * 120) << "where it was, within the short ones";
  const std::int64_t second = 16 * 120 + 1'000'000 - 100 + 5 * 120;
  EXPECT_EQ(spans_[16 + 5], (span{second, second + 1'000'000, 1, event_kind::handler_begin})) << "exactly";
}

TEST_F(recorders, that_have_met_a_long_handler_often_trust_short_ones_later) {
  const auto read_by = [&](int handlers, int long_one) {
    readings = 0;
    for (int each = 1; each <= handlers; ++each) run(1, each % long_one == 0 ? 1'000'000 : 100, 20);
    return readings;
  };
  constexpr int never = 1 << 30;
  EXPECT_GT(read_by(40'000, 40), 2 * 40'000 * 9 / 10) << "of so many nearly each is measured";
  read_by(10'000, never);
  EXPECT_LE(read_by(1600, never), 3 * 100 + 3) << "but not for ever";
  EXPECT_LE(read_by(320, 5), 2 * 320);
  read_by(20'000, never);
  read_by(16, 8);
  EXPECT_LE(read_by(320, never), 2 * (32 + 16) + 3 * 20) << "nor for longer than a first time";
}

TEST_F(recorders, tell_what_happens_in_a_handler_that_shares_when_it_happens) {
  run(1, 100, 20);
  run(1, 100, 20);
  thread_->item();
  thread_->begin(event_kind::handler_begin, 1);
  instant += 50'000;
  thread_->add(event_kind::depart, 77, 2, 3);
  const std::int64_t left = now();
  instant += 10;
  thread_->end();
  close();
  ASSERT_EQ(spans_.size(), 3U);
  EXPECT_NEAR(static_cast<double>(spans_[2].begin), 240, 40) << "the long one, though the clock was not read";
  EXPECT_EQ(spans_[2].end, left + 10);
  const auto match =
      std::find_if(events_.begin(), events_.end(), [](const event& e) { return e.kind == event_kind::depart; });
  ASSERT_NE(match, events_.end());
  EXPECT_EQ(match->ns, left);
  EXPECT_EQ(match->a, 77U);
}

TEST_F(recorders, end_what_shares_where_another_handler_begins_or_the_worker_does_something_else) {
  run(1, 100, 20);
  run(2, 100, 20);  // has readings of its own, and the handler before loses none
  run(2, 100, 20);
  run(2, 100, 20);
  thread_->pause();
  instant += 1'000'000;  // for example a poll loop
  run(2, 100, 20);
  run(2, 100, 20);
  thread_->add(event_kind::idle_begin);
  instant += 1'000'000;
  thread_->add(event_kind::end);
  run(2, 100, 20);
  close();
  ASSERT_EQ(spans_.size(), 8U);
  EXPECT_EQ(spans_[0], (span{0, 100, 1, event_kind::handler_begin}));
  EXPECT_EQ(spans_[1], (span{120, 220, 2, event_kind::handler_begin}));
  EXPECT_EQ(spans_[4], (span{1'000'480, 1'000'580, 2, event_kind::handler_begin}));
  EXPECT_EQ(spans_[6], (span{1'000'720, 2'000'720, 0, event_kind::idle_begin}));
  EXPECT_EQ(work() - 1'000'000, 700);
}

TEST_F(recorders, tell_of_thefts_in_a_row_as_of_one_where_handlers_share) {
  for (int each = 0; each < 17; ++each) {
    thread_->steal(1, 3);
    run(1, 100, 20);
  }
  thread_->steal(2, 3);
  thread_->steal(1, 2);
  EXPECT_LE(readings, 8);
  close();
  std::vector<std::array<std::int64_t, 3>> stolen;
  for (const event& each : events_) {
    const auto items = static_cast<std::int64_t>(each.a), victim = static_cast<std::int64_t>(each.b);
    if (each.kind == event_kind::steal) stolen.push_back({each.ns, items, victim});
  }
  const std::vector<std::array<std::int64_t, 3>> wanted{
      {0, 1, 3}, {15 * 120 + 100, 15, 3}, {16 * 120, 1, 3}, {17 * 120, 2, 3}, {17 * 120, 1, 2}};
  EXPECT_EQ(stolen, wanted);
  ASSERT_EQ(spans_.size(), 17U);
  EXPECT_EQ(spans_[15].end, 15 * 120 + 100);
}

}  // namespace
}  // namespace nacre::trace
