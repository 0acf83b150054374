// SPDX-License-Identifier: Apache-2.0
// The promises of a rank's timers: each fires once or is removed, counts as a unit, and wakes whoever sleeps.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <nacre/config.hpp>

#include "backplane/backplane_test_kit.hpp"

namespace nacre::backplane_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

struct calling_timer final : timer {
  calling_timer() : timer(&on_due) {}
  static void on_due(timer& self, thread_context& thread) {
    auto& own_calling_timer = static_cast<calling_timer&>(self);
    const auto action = own_calling_timer.action;  // a copy: the waiting thread may end the timer as soon as it counts
    ++own_calling_timer.fired;
    if (action) action(thread);
  }
  std::function<void(thread_context&)> action;
  std::atomic<int> fired{0};
};

TEST(timer_queue, a_timer_fires_once_in_the_first_poll_at_or_behind_its_instant) {
  scripted_rank one;
  calling_timer set;
  EXPECT_TRUE(one.plane.duties().timers().set(set, one.time.now() + milliseconds(2)));
  EXPECT_FALSE(one.poll());
  one.time.advance(milliseconds(2));
  EXPECT_TRUE(one.poll()) << "something has happened";
  EXPECT_FALSE(one.poll());
  EXPECT_EQ(set.fired, 1);
}

TEST(timer_queue, tells_whether_a_timer_is_the_earliest_and_when_that_is_due) {
  scripted_rank one;
  calling_timer early, late;
  const nanoseconds start = one.time.now();
  timer_queue& timers = one.plane.duties().timers();
  EXPECT_TRUE(timers.set(late, start + milliseconds(5)));
  EXPECT_TRUE(timers.set(early, start + milliseconds(3)));
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(3));
  EXPECT_TRUE(timers.remove(early));
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(5)) << "the poll loop would wake for nothing";
  EXPECT_FALSE(timers.set(early, start + milliseconds(5))) << "an equal one is no earlier";
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(5));
  EXPECT_TRUE(timers.remove(late) && timers.remove(early));
  EXPECT_EQ(one.plane.duties().due(), nanoseconds::max());
}

TEST(timer_queue, a_set_timer_is_a_unit_until_it_has_fired_or_is_removed) {
  scripted_rank one;
  timer_queue& timers = one.plane.duties().timers();
  calling_timer fired, removed;
  bool open_while_firing = false;
  fired.action = [&](thread_context&) { open_while_firing = timers.pending(); };
  static_cast<void>(timers.set(fired, one.time.now()));
  static_cast<void>(timers.set(removed, one.time.now() + milliseconds(1)));
  EXPECT_EQ(timers.created(), 2U);
  one.poll();
  EXPECT_TRUE(open_while_firing);
  EXPECT_EQ(timers.done(), 1U);
  EXPECT_TRUE(timers.pending());
  EXPECT_TRUE(timers.remove(removed));
  EXPECT_FALSE(timers.remove(removed));
  EXPECT_EQ(timers.done(), 2U);
  EXPECT_FALSE(timers.pending());
}

TEST(timer_queue, a_timer_may_set_itself_again_and_end_another_one) {
  scripted_rank one;
  timer_queue& timers = one.plane.duties().timers();
  calling_timer again, other;
  again.action = [&](thread_context&) {
    if (again.fired == 1) static_cast<void>(timers.set(again, one.time.now() + milliseconds(1)));
    timers.remove(other);
  };
  static_cast<void>(timers.set(again, one.time.now()));
  static_cast<void>(timers.set(other, one.time.now()));
  one.poll();
  EXPECT_EQ(other.fired, 0);
  one.time.advance(milliseconds(1));
  one.poll();
  EXPECT_EQ(again.fired, 2);
  EXPECT_FALSE(timers.pending());
}

TEST(timer_queue, a_crowd_that_is_due_at_once_does_not_keep_messages_waiting) {
  scripted_rank one;
  std::vector<calling_timer> crowd(10'000);
  for (calling_timer& each : crowd) static_cast<void>(one.plane.duties().timers().set(each, one.time.now()));
  int polls = 0;
  while (one.plane.duties().timers().pending()) {
    one.link->incoming.push_back(numbered(0, 1));
    EXPECT_TRUE(one.poll());
    EXPECT_EQ(one.sink.deliveries.size(), static_cast<std::size_t>(++polls));
  }
  EXPECT_GT(polls, 10);
  for (const calling_timer& each : crowd) EXPECT_EQ(each.fired, 1);
}

TEST(timer_queue, a_sleep_that_may_be_late_for_ticks_is_in_time_for_a_timer) {
  scripted_rank one;
  calling_timer set;
  static_cast<void>(one.plane.duties().timers().set(set, one.time.now() + milliseconds(2)));
  one.plane.wait(patience, milliseconds(5));
  EXPECT_EQ(one.link->waits, (std::vector<nanoseconds>{milliseconds(2)}));
  one.plane.duties().timers().remove(set);
}

TEST(timer_queue, each_of_many_timers_fires_or_is_removed_though_threads_do_both) {
  constexpr int threads = 3, rounds = 400;
  steady_clock_source time;
  remembering_sink sink;
  backplane plane(transport::find_backend("inproc").make_local(1, config())->open(rank_id(0)), time);
  plane.attach(sink);
  std::atomic<int> fired{0}, removed{0}, left{threads};
  std::vector<std::thread> setters;
  for (int thread = 0; thread < threads; ++thread) {
    setters.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        calling_timer set;
        static_cast<void>(plane.duties().timers().set(set, time.now() + nanoseconds(round % 3 * 500)));
        if (round % 16 == 0) {
          while (set.fired == 0) std::this_thread::yield();
        }
        if (plane.duties().timers().remove(set)) {
          ++removed;
        } else {
          while (set.fired == 0) std::this_thread::yield();
          ++fired;
        }
      }
      --left;
    });
  }
  thread_context caller;
  while (left != 0) plane.progress(caller);
  for (std::thread& each : setters) each.join();
  EXPECT_EQ(fired + removed, threads * rounds);
  EXPECT_FALSE(plane.duties().timers().pending());
}

}  // namespace
}  // namespace nacre::backplane_test
