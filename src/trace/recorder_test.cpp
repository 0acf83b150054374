// SPDX-License-Identifier: Apache-2.0
// Recorders: when they read the clock, and that no event is lost when they do not.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "trace/recorder_test_kit.hpp"

namespace nacre::trace {
namespace {

TEST_F(recorders, measure_what_is_no_ready_work) {
  thread_->add(event_kind::idle_begin);
  for (int each = 0; each < 10; ++each) {
    instant += 100'000;
    thread_->begin(event_kind::module_begin, 1);
    instant += 50;
    thread_->end();
  }
  close();
  ASSERT_EQ(spans_.size(), 11U);
  for (std::int64_t each = 1; each <= 10; ++each) {
    EXPECT_EQ(spans_[static_cast<std::size_t>(each)].begin, 100'000 * each + 50 * (each - 1));
    EXPECT_EQ(spans_[static_cast<std::size_t>(each)].end, 100'050 * each);
  }
}

TEST_F(recorders, tell_of_every_message_and_read_the_clock_for_few_of_many) {
  thread_->add(event_kind::main_begin);
  for (std::uint32_t each = 0; each < 1000; ++each) {
    instant += 50;
    thread_->send(each % 4, each);
  }
  EXPECT_LT(readings, 100);
  instant += 1'000'000;
  for (std::uint32_t each = 0; each < 100; ++each) {
    thread_->send(3, 7);
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

/// The events of a recording, sorted by what a test can know of them.
struct sorted_events {
  std::vector<std::pair<event_kind, std::uint64_t>> sent, others;  ///< begins and others, in their order
  std::array<std::uint64_t, 3> stolen{};                           ///< by victim

  explicit sorted_events(const std::vector<event>& all) {
    for (const event& each : all) {
      if (each.kind == event_kind::send) {
        sent.emplace_back(each.kind, each.a);
      } else if (each.kind == event_kind::steal) {
        stolen[each.b] += each.a;
      } else if (each.kind != event_kind::end && each.kind != event_kind::write_begin &&
                 each.kind != event_kind::wave) {
        others.emplace_back(each.kind, each.a);
      }
    }
  }
};

/// Any order of events, with buffers of all sizes: each handler, message and other event is recorded once, in order.
TEST_F(recorders, lose_nothing_whatever_happens_in_whatever_order) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    rng random(seed);
    open(8 * event_bytes_max + random.below(3000), random.below(4) == 0 ? 0 : 2e-6);
    std::array<std::uint64_t, 3> stolen_wanted{};  // by victim
    std::vector<std::pair<event_kind, std::uint64_t>> sent_wanted, others_wanted;
    const auto something = [&](auto self, int depth) -> void {
      const auto number = random.below(20);
      instant += random.below(100) == 0 ? random.below(100'000) : random.below(30);
      if (number < 4) {
        sent_wanted.emplace_back(event_kind::send, number);
        thread_->send(static_cast<std::uint32_t>(number), 10);
      } else if (number == 4) {
        others_wanted.emplace_back(event_kind::create, number);
        thread_->add(event_kind::create, number);
      } else if (number == 5 && depth < 3) {
        others_wanted.emplace_back(event_kind::module_begin, 3);
        thread_->begin(event_kind::module_begin, 3);
        self(self, depth + 1);
        thread_->end();
      }
    };
    for (int item = 0; item < 400; ++item) {
      const auto handler = random.below(10) == 0 ? 2U : 1U;
      others_wanted.emplace_back(event_kind::handler_begin, handler);
      thread_->item();
      thread_->begin(event_kind::handler_begin, handler);
      if (random.below(3) == 0) something(something, 0);
      instant += random.below(50);
      thread_->end();
      if (random.below(30) == 0) thread_->pause();
      if (random.below(3) == 0) {
        const std::uint64_t victim = 1 + random.below(10) / 9;
        thread_->steal(2, victim);
        stolen_wanted[victim] += 2;
      }
      if (random.below(30) == 0) something(something, 0);
      thread_->rest();
    }
    const std::int64_t end = now();
    close();
    const sorted_events seen(events_);
    ASSERT_EQ(seen.others, others_wanted) << "seed " << seed;
    ASSERT_EQ(seen.sent, sent_wanted) << "seed " << seed;
    ASSERT_EQ(seen.stolen, stolen_wanted) << "seed " << seed;
    for (const span& each : spans_) ASSERT_GE(each.end, each.begin) << "seed " << seed << ": each ends";
    ASSERT_LE(events_.back().ns, end);
  }
}

}  // namespace
}  // namespace nacre::trace
