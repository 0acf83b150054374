// SPDX-License-Identifier: Apache-2.0
// The protocol of docs/protocols/backlog.md as a whole, under random schedules: any message under way may come next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "base/sanitized.hpp"
#include "mobile/backlog/source_queue.hpp"
#include "mobile/entry/baggage.hpp"
#include "mobile/entry/source_windows.hpp"
#include "mobile/ordering/streams.hpp"

namespace nacre {
namespace {

struct program {
  std::uint32_t ranks, each, every;  // messages of each rank; messages between two moves, 0: chance moves the object
  std::uint32_t late_one_of = 0;     // of so many events one is late; 0: none
  std::uint32_t at_once = ~0U;       // after so many messages a rank sends only now and then
};

/// Ranks, an object, and the messages under way between them.
class world {
 public:
  world(const program& program, std::uint64_t seed)
      : program_(program), random_(seed), ranks_(program.ranks), ran_of_(program.ranks) {}

  /// False: messages were left over, or ran out of order.
  bool run() {
    for (;;) {
      std::vector<std::uint32_t> senders;
      for (std::uint32_t rank = 0; rank < program_.ranks; ++rank) {
        if (ranks_[rank].next < program_.each) senders.push_back(rank);
      }
      const bool runs = is_present_ && !pending_.empty();
      const std::uint64_t choices = under_way_.size() + (runs ? 4 : 0) + senders.size();
      if (choices == 0) break;
      std::uint64_t chosen = random_.below(choices);
      if (chosen < under_way_.size()) {
        if (under_way_[chosen].late > 0) {
          --under_way_[chosen].late;
          continue;
        }
        std::swap(under_way_[chosen], under_way_.back());
        event next = std::move(under_way_.back());
        under_way_.pop_back();
        take(std::move(next));
      } else if (chosen -= under_way_.size(); chosen < senders.size()) {
        const std::uint32_t rank = senders[chosen];
        if (ranks_[rank].next < program_.at_once || random_.below(32) == 0) send(rank);
      } else {
        run_one();
      }
      if (is_present_ && program_.every == 0 && moves < 50 && random_.below(4) == 0) move();
    }
    return in_order_ &&
           std::all_of(ran_of_.begin(), ran_of_.end(), [&](std::uint32_t n) { return n == program_.each; });
  }
  std::uint64_t travels = 0, moves = 0, went_back = 0;

 private:
  struct event {
    std::uint32_t target = 0;
    enum class kind : std::uint8_t { message, request, grant, object } event_kind = kind::message;
    message_ptr m{};
    std::uint32_t end = 0, source = 0, epoch = 0;
    std::uint32_t late = 0;  // how often chance must choose it first
  };
  struct rank_state {
    std::uint32_t next = 0, place = 0, epoch = 0;  // place of the object, as far as known
    bool backlog = false;
    std::optional<source_queue> queue{};
  };

  void send(std::uint32_t rank) {
    rank_state& state = ranks_[rank];
    message_ptr m = make_message(0);
    m->header.kind = message_kind::object;
    m->header.source = rank;
    m->header.sequence = state.next++;
    if (state.backlog || state.queue) return wait(rank, std::move(m));
    go(state.place, std::move(m));
  }
  void post(event next) {
    if (program_.late_one_of != 0 && random_.below(program_.late_one_of) == 0) {
      next.late = static_cast<std::uint32_t>(random_.below(16));
    }
    under_way_.push_back(std::move(next));
  }
  void go(std::uint32_t target, message_ptr m) {
    ++travels;
    post({.target = target, .m = std::move(m)});
  }
  void wait(std::uint32_t rank, message_ptr m) {
    rank_state& state = ranks_[rank];
    if (!state.queue) state.queue.emplace();
    state.queue->put(std::move(m));
    go_on(rank);
  }
  void go_on(std::uint32_t rank) {
    rank_state& state = ranks_[rank];
    while (message_ptr m = state.queue->take()) {
      m->header.flags = flag_granted;
      go(state.place, std::move(m));
    }
    if (const auto asked = state.queue->ask(state.next)) {
      post({.target = state.place, .event_kind = event::kind::request, .end = *asked, .source = rank});
    }
    if (state.queue->over()) state.queue.reset();
  }

  void take(event next) {
    rank_state& state = ranks_[next.target];
    const bool is_here = is_present_ && location_ == next.target;
    switch (next.event_kind) {
      case event::kind::object:
        location_ = next.target;
        is_present_ = true;
        state.place = location_;
        state.epoch = epoch_;
        state.backlog = false;
        return clear();
      case event::kind::grant:
        if (next.epoch > state.epoch) {
          state.place = next.source;
          state.epoch = next.epoch;
          state.backlog = false;
        }
        if (state.queue) {
          state.queue->clear(next.end);
          go_on(next.target);
        }
        if (!state.queue && next.epoch == state.epoch) state.backlog = false;
        return;
      case event::kind::request:
        if (!is_here) {
          next.target = state.place;
          post(std::move(next));
          return;
        }
        windows_.on_request(next.source, next.end, order_.next_of(next.source));
        return clear();
      case event::kind::message:
        return take_message(next.target, is_here, std::move(next.m));
    }
  }
  void take_message(std::uint32_t rank, bool is_here, message_ptr m) {
    message_header& header = m->header;
    if ((header.flags & flag_returned) != 0) {
      header.flags = 0;
      header.hops = 0;
      return wait(rank, std::move(m));
    }
    if (!is_here) {
      if (ranks_[rank].backlog && (header.flags & flag_granted) == 0) return send_back(std::move(m));
      ++header.hops;
      return go(ranks_[rank].place, std::move(m));
    }
    const std::uint32_t source = header.source;
    in_order_ = in_order_ && order_.admit(m, pending_) != streams::verdict::repeated;
    windows_.on_next(source, order_.next_of(source));
    clear();
  }
  void send_back(message_ptr m) {
    ++went_back;
    m->header.flags = flag_returned;
    const std::uint32_t source = m->header.source;
    go(source, std::move(m));
  }

  void run_one() {
    const message_ptr m = pending_.pop_front();
    in_order_ = in_order_ && m->header.sequence == ran_of_[m->header.source]++;
    ++ran_;
    clear();
    if (program_.every != 0 && ran_ % program_.every == 0) move();
  }
  void clear() {
    const auto nobody = [](std::uint32_t) { return false; };
    for (const source_windows::grant& each : windows_.clear(pending_.size(), ran_, nobody)) {
      post({.target = each.target.value(),
            .event_kind = event::kind::grant,
            .end = each.limit,
            .source = location_,
            .epoch = epoch_});
    }
  }
  void move() {
    const std::uint32_t target =
        (location_ + 1 + static_cast<std::uint32_t>(random_.below(program_.ranks - 1))) % program_.ranks;
    baggage taken(ran_);
    message_list ready = std::move(pending_), early, left, kept;
    const auto divide = [&](message_list& all, waits waits, message_list& messages) {
      while (message_ptr m = all.pop_front()) {
        const bool goes = taken.takes(m->header, waits);
        if (goes) {
          ++travels;
          ++m->header.hops;
        }
        (goes ? messages : left).push_back(std::move(m));
      }
    };
    divide(ready, waits::ready, pending_);
    order_.take_early(early);
    divide(early, waits::early, kept);
    for (const auto& [source, next] : taken.cut()) {
      order_.roll_back(source, next);
      windows_.on_next(source, next);
    }
    while (message_ptr m = kept.pop_front()) ASSERT_EQ(order_.admit(m, pending_), streams::verdict::early);
    windows_.on_departure(ran_);
    ran_ = 0;
    ++moves;
    rank_state& old = ranks_[location_];
    old.place = target;
    old.epoch = ++epoch_;
    old.backlog = !left.empty() || !windows_.empty();
    is_present_ = false;
    post({.target = target, .event_kind = event::kind::object});
    while (message_ptr m = left.pop_front()) send_back(std::move(m));
  }

  program program_;
  rng random_;
  std::vector<rank_state> ranks_;
  std::vector<std::uint32_t> ran_of_;
  std::vector<event> under_way_;
  streams order_;
  source_windows windows_;
  message_list pending_;
  std::uint32_t location_ = 0, epoch_ = 0, ran_ = 0;
  bool is_present_ = true, in_order_ = true;
};

world drawn(std::uint64_t seed) {
  rng draw(seed);
  const program program{static_cast<std::uint32_t>(2 + draw.below(4)), static_cast<std::uint32_t>(1 + draw.below(40)),
                        static_cast<std::uint32_t>(draw.below(4) == 0 ? 0 : 1 + draw.below(12)),
                        static_cast<std::uint32_t>(draw.below(6)), static_cast<std::uint32_t>(1 + draw.below(40))};
  return {program, seed};
}

TEST(backlog_schedules, every_message_runs_once_and_in_order_under_thousands_of_schedules) {
  std::uint64_t went_back = 0;
  for (std::uint64_t seed = 0; seed < tests::rounds_in_one_thread(3000); ++seed) {
    world one = drawn(seed);
    ASSERT_TRUE(one.run()) << "seed " << seed;
    went_back += one.went_back;
  }
  EXPECT_GT(went_back, tests::rounds_in_one_thread(1000));
}

// One schedule of 30,000 is like this: an earlier clearance lets messages overtake the request of their new queue.
TEST(backlog_schedules, a_request_that_its_messages_overtake_is_answered) {
  for (const std::uint64_t seed : {23083U, 50539U, 103061U, 143214U, 158001U, 190427U, 199899U, 297374U}) {
    EXPECT_TRUE(drawn(seed).run()) << "seed " << seed;
  }
}

TEST(backlog_schedules, a_message_travels_a_constant_number_of_times_however_long_the_backlog) {
  for (const std::uint32_t every : {1U, 3U, 20U}) {
    double previous = 0;
    for (const std::uint32_t each : {200U, 800U, 3200U}) {
      world one({4, each, every}, 7);
      ASSERT_TRUE(one.run());
      const double now = static_cast<double>(one.travels) / (4.0 * each);
      if (previous != 0) {
        EXPECT_LT(now, 1.25 * previous) << "a move every " << every << " messages";
      }
      previous = now;
      RecordProperty("every_" + std::to_string(every) + "_of_" + std::to_string(each), std::to_string(now));
    }
  }
}

}  // namespace
}  // namespace nacre
