// SPDX-License-Identifier: Apache-2.0
// The promises of the backplane about time: timers, poll hooks, sleeping and waking.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <nacre/config.hpp>

#include "backplane/backplane_test_kit.hpp"

namespace nacre::backplane_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

[[nodiscard]] std::unique_ptr<transport::endpoint> lone_endpoint() {
  return transport::find_backend("inproc").make_local(1, config())->open(rank_id(0));
}

TEST(backplane_wait, a_timer_runs_when_due_and_again_after_the_time_that_it_returns) {
  scripted_rank one;
  std::vector<nanoseconds> runs;
  one.plane.duties().add_timer(milliseconds(10), [&](thread_context& thread) -> nanoseconds {
    EXPECT_EQ(&thread, &one.thread);
    runs.push_back(one.time.now());
    return milliseconds(runs.size() == 1 ? 3 : 5);
  });
  const nanoseconds start = one.time.now();
  for (int passed = 0; passed < 20; ++passed) {
    one.poll();
    one.poll();  // not twice at one time
    one.time.advance(milliseconds(1));
  }
  const std::vector<nanoseconds> expected{start + milliseconds(10), start + milliseconds(13), start + milliseconds(18)};
  EXPECT_EQ(runs, expected);
}

TEST(backplane_wait, a_poll_that_comes_late_runs_a_timer_once_and_counts_from_there) {
  scripted_rank one;
  int runs = 0;
  one.plane.duties().add_timer(milliseconds(1), [&](thread_context&) -> nanoseconds {
    ++runs;
    return milliseconds(2);
  });
  one.time.advance(milliseconds(100));
  one.poll();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(one.plane.duties().due(), one.time.now() + milliseconds(2));
}

TEST(backplane_wait, timers_do_not_depend_on_each_other) {
  scripted_rank one;
  std::array<int, 4> runs{};
  const std::array<int, 4> periods_ms{7, 2, 3, 5};
  for (std::size_t i = 0; i < periods_ms.size(); ++i) {
    const milliseconds period{periods_ms[i]};
    one.plane.duties().add_timer(period, [&runs, i, period](thread_context&) -> nanoseconds {
      ++runs[i];
      return period;
    });
  }
  EXPECT_EQ(one.plane.duties().due(), one.time.now() + milliseconds(2));
  const nanoseconds start = one.time.now();
  for (int passed = 1; passed <= 210; ++passed) {
    one.time.advance(milliseconds(1));
    one.poll();
    nanoseconds next = nanoseconds::max();
    for (const int period : periods_ms)
      next = std::min<nanoseconds>(next, milliseconds((passed / period + 1) * period));
    ASSERT_EQ(one.plane.duties().due(), start + next);
  }
  EXPECT_EQ(runs, (std::array<int, 4>{30, 105, 70, 42}));
}

TEST(backplane_wait, what_is_due_next_is_the_earliest_of_timers_and_poll_hooks) {
  scripted_rank none;
  none.poll();
  EXPECT_EQ(none.plane.duties().due(), nanoseconds::max());

  scripted_rank one;
  const nanoseconds start = one.time.now();
  std::array<nanoseconds, 2> wishes{nanoseconds::max(), nanoseconds::max()};
  std::array<int, 2> looks{};
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    one.plane.duties().add_hook([&, i](thread_context&) {
      ++looks[i];
      return wishes[i];
    });
  }
  one.plane.duties().add_timer(milliseconds(10), [](thread_context&) -> nanoseconds { return milliseconds(10); });
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(10));
  one.poll();
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(10));
  wishes = {start + milliseconds(4), start + milliseconds(6)};
  one.poll();
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(4));
  wishes[0] = start + milliseconds(20);
  one.poll();
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(6));
  wishes[1] = nanoseconds::max();
  one.poll();
  EXPECT_EQ(one.plane.duties().due(), start + milliseconds(10));
  EXPECT_EQ(looks, (std::array<int, 2>{4, 4})) << "at every poll";
}

TEST(backplane_wait, a_poll_that_is_not_thorough_delivers_before_any_hook_runs) {
  scripted_rank one;
  int looks = 0, takes = 0;
  one.plane.duties().add_taker([&](thread_context&) { ++takes; });
  one.plane.duties().add_hook([&](thread_context&) {
    ++looks;
    return nanoseconds::max();
  });
  EXPECT_FALSE(one.plane.progress(one.thread, false));
  EXPECT_EQ(looks, 0);
  EXPECT_EQ(takes, 0);
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.plane.progress(one.thread, false));
  EXPECT_EQ(one.sink.deliveries.size(), 1U);
  EXPECT_EQ(looks, 0) << "what the message has made ready would wait for it";
  EXPECT_EQ(takes, 1) << "the transport may keep what has come until the next poll only";
  EXPECT_FALSE(one.plane.progress(one.thread));
  EXPECT_EQ(looks, 1);
}

TEST(backplane_wait, does_not_outsleep_what_is_due) {
  scripted_rank one;
  one.plane.duties().add_timer(milliseconds(10), [](thread_context&) -> nanoseconds { return milliseconds(10); });
  one.plane.wait(milliseconds(3));
  one.plane.wait(milliseconds(30));
  one.time.advance(milliseconds(4));
  one.plane.wait(milliseconds(30));
  one.time.advance(milliseconds(6));
  one.plane.wait(milliseconds(30));  // it is time
  one.time.advance(milliseconds(1));
  one.plane.wait(milliseconds(30));
  EXPECT_EQ(one.link->waits, (std::vector<nanoseconds>{milliseconds(3), milliseconds(10), milliseconds(6)}));
}

TEST(backplane_wait, ends_for_a_timer_on_a_real_link) {
  steady_clock_source time;
  backplane plane(lone_endpoint(), time);
  remembering_sink sink;
  plane.attach(sink);
  bool ran = false;
  const nanoseconds start = time.now();
  plane.duties().add_timer(milliseconds(2), [&](thread_context&) -> nanoseconds {
    ran = true;
    return patience;
  });
  thread_context thread;
  while (!ran && time.now() - start < patience) {
    plane.wait(patience);
    plane.progress(thread);
  }
  EXPECT_GE(time.now() - start, milliseconds(2));
  EXPECT_LT(time.now() - start, patience);
}

TEST(backplane_wait, a_wake_or_an_own_message_before_the_wait_is_kept) {
  steady_clock_source time;
  backplane plane(lone_endpoint(), time);
  remembering_sink sink;
  plane.attach(sink);
  thread_context thread;
  const nanoseconds start = time.now();
  plane.wake();
  plane.wait(patience);
  plane.send(rank_id(0), numbered(0));
  plane.wait(patience);
  EXPECT_LT(time.now() - start, patience);
  plane.progress(thread);
  EXPECT_EQ(sink.all(), counting(0, 1));
}

TEST(backplane_wait, a_sleep_that_may_be_late_lasts_so_long_though_a_timer_is_due) {
  scripted_rank one;
  one.plane.duties().add_timer(milliseconds(2), [](thread_context&) -> nanoseconds { return milliseconds(2); });
  one.plane.wait(patience);
  one.plane.wait(patience, milliseconds(1));
  one.plane.wait(patience, milliseconds(5));
  one.plane.wait(milliseconds(3), milliseconds(5));
  one.time.advance(milliseconds(4));
  one.plane.wait(patience);
  one.plane.wait(patience, milliseconds(5));
  const std::vector<nanoseconds> expected{milliseconds(2), milliseconds(2), milliseconds(5), milliseconds(3),
                                          milliseconds(5)};
  EXPECT_EQ(one.link->waits, expected) << "a timer that is due forbids a sleep, unless it may be late";
}

TEST(backplane_wait, a_thread_that_was_refused_a_poll_does_not_sleep_before_another_poll_has_begun) {
  scripted_rank one;
  std::atomic<bool> in_hook{false}, let_go{false};
  one.plane.duties().add_hook([&](thread_context&) {
    in_hook = true;
    while (!let_go) std::this_thread::yield();
    return nanoseconds::max();
  });
  std::thread other([&] { one.poll(); });
  while (!in_hook) std::this_thread::yield();
  // The other thread's poll is past its look at the outboxes. A thread is woken for the message, and cannot poll.
  thread_context mine;
  one.plane.send(rank_id(0), numbered(0));
  EXPECT_FALSE(one.plane.progress(mine));
  one.plane.wait(patience);
  EXPECT_TRUE(one.link->waits.empty()) << "nobody would look at the message";
  let_go = true;
  other.join();
  one.plane.wait(patience);
  EXPECT_TRUE(one.link->waits.empty());
  EXPECT_TRUE(one.plane.progress(mine));
  EXPECT_EQ(one.sink.all(), counting(0, 1));
  one.plane.wait(patience);
  EXPECT_EQ(one.link->waits.size(), 1U) << "a poll of its own has seen everything";
}

}  // namespace
}  // namespace nacre::backplane_test
