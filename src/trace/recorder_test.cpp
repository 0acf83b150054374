// SPDX-License-Identifier: Apache-2.0
// Recorders: when they read the clock, and that nothing is lost where they do not.
#include "trace/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "trace/trace_log.hpp"

namespace nacre::trace {
namespace {

constexpr std::uint64_t start = 5000;
std::uint64_t instant = start;
int readings = 0;

std::uint64_t read_instant(const void*) {
  ++readings;
  return instant;
}

/// A piece of a lane's time in a handler.
struct span {
  std::int64_t begin, end;
  std::uint64_t handler;
  event_kind how;
  bool operator==(const span&) const = default;
};

/// The trace of one worker, whose ticks are nanoseconds. Times in tests count from the start.
class recorders : public testing::Test {
 protected:
  recorders() : path_(testing::TempDir() + "nacre_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    instant = start;
    open();
  }
  ~recorders() override { std::filesystem::remove(path_); }

  void open(std::size_t lane_bytes = 1 << 16, double short_seconds = 2e-6) {
    trace_.reset();
    file_.emplace(path_);
    job_description job;
    job.ranks = 4;
    job.handlers = {"", "one", "two", "three"};
    tell_job(*file_, job);
    rank_trace::description of;
    of.lane_bytes = lane_bytes;
    of.short_seconds = short_seconds;
    trace_.emplace(*file_, of, &read_instant, nullptr);
    lane_ = &trace_->of_lane(0);
    trace_->tell_clock({instant, 0, 0, 0}, 1);
    lane_->add(event_kind::wave);  // the first event makes the buffer
    readings = 0;
  }
  void run(std::uint32_t handler, std::uint64_t ticks, std::uint64_t gap = 0) {
    lane_->item();
    lane_->begin(event_kind::handler_begin, handler);
    instant += ticks;
    lane_->end();
    instant += gap;
    lane_->rest();
  }
  /// Ends the trace and reads it.
  void close() {
    trace_->finish();
    file_.reset();
    const trace_log log(path_);
    events_.clear();
    spans_.clear();
    log.visit(0, [this](std::span<const event> some) { events_.insert(events_.end(), some.begin(), some.end()); });
    std::vector<std::size_t> open;
    std::int64_t last = 0;
    for (const event& each : events_) {
      ASSERT_GE(each.ns, last) << "in the order of time";
      ASSERT_LT(each.kind, event_kind::ends) << "handlers are handed over one by one";
      last = each.ns;
      if (each.kind == event_kind::end) {
        ASSERT_FALSE(open.empty()) << "what ends has begun";
        spans_[open.back()].end = each.ns;
        open.pop_back();
      } else if (each.kind < event_kind::send) {
        open.push_back(spans_.size());
        spans_.push_back({each.ns, -1, each.a, each.kind});
      }
    }
  }
  [[nodiscard]] std::int64_t now() const { return static_cast<std::int64_t>(instant - start); }
  [[nodiscard]] std::int64_t work() const {
    std::int64_t sum = 0;
    for (const span& each : spans_) sum += each.end - each.begin;
    return sum;
  }

  std::string path_;
  std::optional<file_writer> file_;
  std::optional<rank_trace> trace_;
  recorder* lane_ = nullptr;
  std::vector<event> events_;
  std::vector<span> spans_;
};

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
  lane_->item();
  lane_->begin(event_kind::handler_begin, 1);
  instant += 50'000;
  lane_->add(event_kind::depart, 77, 2, 3);
  const std::int64_t left = now();
  instant += 10;
  lane_->end();
  close();
  ASSERT_EQ(spans_.size(), 3U);
  EXPECT_NEAR(static_cast<double>(spans_[2].begin), 240, 40) << "the long one, though the clock was not read";
  EXPECT_EQ(spans_[2].end, left + 10);
  const auto found =
      std::find_if(events_.begin(), events_.end(), [](const event& e) { return e.kind == event_kind::depart; });
  ASSERT_NE(found, events_.end());
  EXPECT_EQ(found->ns, left);
  EXPECT_EQ(found->a, 77U);
}

TEST_F(recorders, end_what_shares_where_another_handler_begins_or_the_worker_does_something_else) {
  run(1, 100, 20);
  run(2, 100, 20);  // has its own readings, and the one before loses none
  run(2, 100, 20);
  run(2, 100, 20);
  lane_->pause();
  instant += 1'000'000;  // a poll loop, say
  run(2, 100, 20);
  run(2, 100, 20);
  lane_->add(event_kind::idle_begin);
  instant += 1'000'000;
  lane_->add(event_kind::end);
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
    lane_->steal(1, 3);
    run(1, 100, 20);
  }
  lane_->steal(2, 3);
  lane_->steal(1, 2);
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

TEST_F(recorders, measure_what_is_no_ready_work) {
  lane_->add(event_kind::idle_begin);
  for (int each = 0; each < 10; ++each) {
    instant += 100'000;
    lane_->begin(event_kind::part_begin, 1);
    instant += 50;
    lane_->end();
  }
  close();
  ASSERT_EQ(spans_.size(), 11U);
  for (std::int64_t each = 1; each <= 10; ++each) {
    EXPECT_EQ(spans_[static_cast<std::size_t>(each)].begin, 100'000 * each + 50 * (each - 1));
    EXPECT_EQ(spans_[static_cast<std::size_t>(each)].end, 100'050 * each);
  }
}

TEST_F(recorders, tell_of_every_message_and_read_the_clock_for_few_of_many) {
  lane_->add(event_kind::main_begin);
  for (std::uint32_t each = 0; each < 1000; ++each) {
    instant += 50;
    lane_->send(each % 4, each);
  }
  EXPECT_LT(readings, 100);
  instant += 1'000'000;
  for (std::uint32_t each = 0; each < 100; ++each) {
    lane_->send(3, 7);
    instant += 100'000;
  }
  close();
  std::uint64_t sent = 0;
  std::int64_t late_max = 0;
  for (const event& each : events_) {
    if (each.kind != event_kind::send) continue;
    if (sent < 1000) {
      EXPECT_EQ(each.a, sent % 4);
      EXPECT_EQ(each.b, sent);
      late_max = std::max(late_max, 50 * static_cast<std::int64_t>(sent + 1) - each.ns);
    } else if (sent >= 1032) {
      EXPECT_EQ(each.ns, 1'050'000 + 100'000 * static_cast<std::int64_t>(sent - 1000)) << "those far apart are read";
    }
    ++sent;
  }
  EXPECT_EQ(sent, 1100U);
  EXPECT_LE(late_max, 16 * 50);
}

TEST_F(recorders, stop_in_the_midst_with_what_has_happened_until_then) {
  for (int each = 0; each < 5; ++each) run(1, 100, 20);
  trace_->stop();
  for (int each = 0; each < 5; ++each) run(1, 100, 20);
  instant += 1'000'000;
  close();
  ASSERT_EQ(spans_.size(), 5U);
  EXPECT_EQ(spans_.back().end, 600) << "not when the rest is written";
}

/// Any order of events, with buffers of all sizes: each handler, message and other event is told once, in order.
TEST_F(recorders, lose_nothing_whatever_happens_in_whatever_order) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    rng random(seed);
    open(8 * event_bytes_max + random.below(3000), random.below(4) == 0 ? 0 : 2e-6);
    std::array<std::uint64_t, 3> stolen{}, stolen_wanted{};    // by victim
    std::vector<std::pair<event_kind, std::uint64_t>> wanted;  // begins and others, in their order
    const auto something = [&](auto self, int depth) -> void {
      const auto what = random.below(20);
      instant += random.below(100) == 0 ? random.below(100'000) : random.below(30);
      if (what < 4) {
        wanted.emplace_back(event_kind::send, what);
        lane_->send(static_cast<std::uint32_t>(what), 10);
      } else if (what == 4) {
        wanted.emplace_back(event_kind::create, what);
        lane_->add(event_kind::create, what);
      } else if (what == 5 && depth < 3) {
        wanted.emplace_back(event_kind::part_begin, 3);
        lane_->begin(event_kind::part_begin, 3);
        self(self, depth + 1);
        lane_->end();
      }
    };
    for (int item = 0; item < 400; ++item) {
      const auto handler = random.below(10) == 0 ? 2U : 1U;
      wanted.emplace_back(event_kind::handler_begin, handler);
      lane_->item();
      lane_->begin(event_kind::handler_begin, handler);
      if (random.below(3) == 0) something(something, 0);
      instant += random.below(50);
      lane_->end();
      if (random.below(30) == 0) lane_->pause();
      if (random.below(3) == 0) {
        const std::uint64_t victim = 1 + random.below(10) / 9;
        lane_->steal(2, victim);
        stolen_wanted[victim] += 2;
      }
      if (random.below(30) == 0) something(something, 0);
      lane_->rest();
    }
    const std::int64_t end = now();
    close();
    std::vector<std::pair<event_kind, std::uint64_t>> seen;
    std::vector<std::pair<event_kind, std::uint64_t>> sent, sent_wanted;
    for (const event& each : events_) {
      if (each.kind == event_kind::send) {
        sent.emplace_back(each.kind, each.a);
      } else if (each.kind == event_kind::steal) {
        stolen[each.b] += each.a;
      } else if (each.kind != event_kind::end && each.kind != event_kind::write_begin &&
                 each.kind != event_kind::wave) {
        seen.emplace_back(each.kind, each.a);
      }
    }
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(sent_wanted),
                 [](const auto& each) { return each.first == event_kind::send; });
    std::erase_if(wanted, [](const auto& each) { return each.first == event_kind::send; });
    ASSERT_EQ(seen, wanted) << "seed " << seed;
    ASSERT_EQ(sent, sent_wanted) << "seed " << seed;
    ASSERT_EQ(stolen, stolen_wanted) << "seed " << seed;
    for (const span& each : spans_) ASSERT_GE(each.end, each.begin) << "seed " << seed << ": each ends";
    ASSERT_LE(events_.back().ns, end);
  }
}

}  // namespace
}  // namespace nacre::trace
