// SPDX-License-Identifier: Apache-2.0
// The promises of the backplane about messages: order, exactly once, and patience with a full link.
#include "backplane/backplane.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <nacre/config.hpp>

#include "backplane/backplane_test_kit.hpp"

namespace nacre::backplane_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// All ranks of a job over the transport inside a process, each driven by the test.
struct inproc_job {
  explicit inproc_job(std::uint32_t ranks)
      : net(transport::find_backend("inproc").make_local(ranks, config())), sinks(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      planes.push_back(std::make_unique<backplane>(net->open(rank_id(rank)), time));
      planes.back()->attach(sinks[rank]);
    }
  }
  /// Polls until nothing moves any more.
  void drain() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& each : planes) moved |= each->progress(thread);
    }
  }

  manual_clock time;
  std::unique_ptr<transport::fabric> net;
  std::vector<remembering_sink> sinks;
  thread_context thread;
  std::vector<std::unique_ptr<backplane>> planes;
};

TEST(backplane, messages_to_every_rank_arrive_once_and_in_order) {
  constexpr std::uint32_t ranks = 3;
  constexpr std::uint32_t messages = 1000;
  inproc_job job(ranks);
  for (std::uint32_t i = 0; i < messages; ++i) {
    for (std::uint32_t target = 0; target < ranks; ++target) job.planes[0]->send(rank_id(target), numbered(i));
  }
  job.drain();
  for (std::uint32_t target = 0; target < ranks; ++target) {
    EXPECT_EQ(job.sinks[target].all(), counting(0, messages)) << "rank " << target;
    EXPECT_EQ(job.sinks[target].last_thread, &job.thread);
  }
  EXPECT_GT(job.sinks[1].deliveries.size(), 1U) << "a poll has a bound, whatever has arrived";
}

TEST(backplane, a_message_to_the_own_rank_is_never_delivered_inside_send) {
  inproc_job job(1);
  backplane& plane = *job.planes[0];
  remembering_sink& sink = job.sinks[0];
  sink.on_message = [&](std::uint32_t number) {
    if (number < 5) plane.send(rank_id(0), numbered(number + 1));
  };
  plane.send(rank_id(0), numbered(0));
  EXPECT_TRUE(sink.deliveries.empty());
  for (std::uint32_t poll = 1; poll <= 6; ++poll) {
    EXPECT_TRUE(plane.progress(job.thread));
    EXPECT_EQ(sink.all(), counting(0, poll)) << "one more at each poll";
  }
  EXPECT_FALSE(plane.progress(job.thread));
  EXPECT_EQ(sink.all(), counting(0, 6));
}

TEST(backplane, a_link_that_any_thread_may_use_gets_messages_at_once) {
  scripted_rank one({.concurrent_submit = true});
  one.plane.send(rank_id(1), numbered(0));
  one.plane.send(rank_id(1), numbered(1));
  EXPECT_EQ(one.link->taken[1], counting(0, 2));
  one.plane.send(rank_id(0), numbered(2));
  EXPECT_TRUE(one.link->taken[0].empty()) << "the own rank needs no link";
}

TEST(backplane, messages_sent_inside_a_poll_go_straight_to_the_link_and_keep_their_order) {
  scripted_rank one;
  thread_context other;
  one.link->room[1] = 2;
  for (const std::uint32_t previous : {0U, 1U}) {
    one.sink.on_message = [&](std::uint32_t) {
      const std::size_t taken = one.link->taken[1].size();
      one.plane.send(&other, rank_id(2), numbered(previous));
      EXPECT_EQ(one.link->taken[2].size(), previous) << "another thread's message waits for the flush";
      for (std::uint32_t i = 0; i < 3; ++i) one.plane.send(&one.thread, rank_id(1), numbered(3 * previous + i));
      EXPECT_EQ(one.link->taken[1].size(), taken + (previous == 0 ? 2 : 0)) << "behind what waits, nothing passes";
    };
    one.link->incoming.push_back(numbered(100, 2));
    EXPECT_TRUE(one.poll());
  }
  EXPECT_EQ(one.link->taken[1], counting(0, 2));
  EXPECT_EQ(one.link->taken[2], counting(0, 2));
  one.link->room[1] = scripted_endpoint::boundless;
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 6));
}

TEST(backplane, in_virtual_time_the_link_carries_messages_to_the_own_rank_too) {
  scripted_rank one({.virtual_time = true});
  one.plane.send(rank_id(0), numbered(0));
  one.plane.send(rank_id(2), numbered(1));
  EXPECT_EQ(one.link->taken[0], counting(0, 1));
  EXPECT_EQ(one.link->taken[2], counting(1, 2));
  EXPECT_EQ(one.link->wakes, 0U);
  EXPECT_FALSE(one.poll());
}

TEST(backplane, what_a_full_link_leaves_is_sent_later_and_in_order) {
  scripted_rank one;
  one.link->room[1] = 2;
  for (std::uint32_t i = 0; i < 7; ++i) one.plane.send(rank_id(1), numbered(i));
  one.poll();
  EXPECT_EQ(one.link->taken[1], counting(0, 2));
  EXPECT_FALSE(one.poll()) << "a poll that finds no room moves nothing";

  one.link->room[1] = 3;
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 5));
  one.plane.send(rank_id(1), numbered(7));
  one.poll();
  EXPECT_EQ(one.link->taken[1], counting(0, 5));

  one.link->room[1] = scripted_endpoint::boundless;
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 8));
  EXPECT_FALSE(one.poll());
}

TEST(backplane, a_full_link_holds_up_no_other_rank_and_not_the_own) {
  scripted_rank one;
  one.link->room[1] = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t target = 0; target < scripted_endpoint::ranks; ++target)
      one.plane.send(rank_id(target), numbered(i));
  }
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[2], counting(0, 4));
  EXPECT_EQ(one.sink.all(), counting(0, 4));
  one.link->room[1] = scripted_endpoint::boundless;
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 4));
  EXPECT_EQ(one.sink.all(), counting(0, 4));
}

TEST(backplane, a_message_leaves_at_once_when_the_poll_lock_is_free_and_at_its_release_when_not) {
  scripted_rank one;
  one.plane.send(rank_id(1), numbered(0));
  EXPECT_EQ(one.link->taken[1], counting(0, 1));
  EXPECT_EQ(one.link->wakes, 0U);
  one.link->on_submit = [&] {  // another thread would do so meanwhile
    one.link->on_submit = nullptr;
    one.plane.send(rank_id(1), numbered(2));
    one.plane.send(rank_id(1), numbered(3));
    EXPECT_EQ(one.link->taken[1], counting(0, 1));
    EXPECT_GE(one.link->wakes, 2U) << "or whoever sleeps in the link would let them wait";
  };
  one.plane.send(rank_id(1), numbered(1));
  EXPECT_EQ(one.link->taken[1], counting(0, 4)) << "the thread that has the poll lock sends for the others";
}

TEST(backplane, a_thread_sends_past_its_outbox_inside_its_own_poll_only) {
  scripted_rank one;
  thread_context other;
  one.poll();
  one.link->on_submit = [&] {
    one.link->on_submit = nullptr;
    one.plane.send(&one.thread, rank_id(2), numbered(1));
    EXPECT_TRUE(one.link->taken[2].empty()) << "its own poll is over";
  };
  one.plane.send(rank_id(2), numbered(0));
  one.sink.on_message = [&](std::uint32_t) {
    one.plane.send(&one.thread, rank_id(1), numbered(0));
    EXPECT_TRUE(one.link->taken[1].empty()) << "another thread has the poll lock";
    one.plane.send(&other, rank_id(2), numbered(2));
    EXPECT_EQ(one.link->taken[2], counting(0, 3));
    one.plane.send(&other, rank_id(1), numbered(1));
    EXPECT_TRUE(one.link->taken[1].empty()) << "something is before it";
  };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.plane.progress(other));
  EXPECT_EQ(one.link->taken[1], counting(0, 2));
  one.sink.on_message = [&](std::uint32_t) {
    one.plane.send(&other, rank_id(1), numbered(2));
    EXPECT_EQ(one.link->taken[1], counting(0, 3)) << "nothing is before it any more";
  };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.plane.progress(other));
}

TEST(backplane, what_the_link_does_not_take_at_once_stays_before_what_follows) {
  scripted_rank one;
  one.link->room[1] = 1;
  one.sink.on_message = [&](std::uint32_t) {
    for (std::uint32_t i = 0; i < 4; ++i) one.plane.send(&one.thread, rank_id(1), numbered(i));
  };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 1));
  one.link->room[1] = scripted_endpoint::boundless;
  one.sink.on_message = [&](std::uint32_t) { one.plane.send(&one.thread, rank_id(1), numbered(4)); };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 5));
}

TEST(backplane, collected_messages_leave_when_a_poll_begins_is_refused_or_has_delivered) {
  scripted_rank one;
  thread_context other;
  std::vector<const thread_context*> flushed;
  one.sink.on_flush = [&](thread_context& thread) {
    flushed.push_back(&thread);
    if (flushed.size() != 1) return;
    EXPECT_TRUE(one.sink.deliveries.empty());
    one.plane.send(&thread, rank_id(1), numbered(0));
    EXPECT_EQ(one.link->taken[1], counting(0, 1)) << "the thread has the poll lock already";
  };
  one.sink.on_message = [&](std::uint32_t) {
    EXPECT_EQ(flushed, (std::vector<const thread_context*>{&one.thread}));
    EXPECT_FALSE(one.plane.progress(other));
    EXPECT_EQ(flushed, (std::vector<const thread_context*>{&one.thread, &other}));
  };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(flushed, (std::vector<const thread_context*>{&one.thread, &other, &one.thread}));
}

TEST(backplane, messages_of_a_handler_leave_at_the_end_of_the_poll) {
  scripted_rank one;
  one.sink.on_message = [&](std::uint32_t number) {
    one.plane.send(rank_id(1), numbered(number));
    one.plane.send(rank_id(1), numbered(number + 1));
    EXPECT_TRUE(one.link->taken[1].empty()) << "the poll has the link, whichever thread sends";
  };
  one.link->incoming.push_back(numbered(0, 1));
  EXPECT_TRUE(one.poll());
  EXPECT_EQ(one.link->taken[1], counting(0, 2));
}

TEST(backplane, each_failure_reaches_the_sink_once) {
  scripted_rank one({.separate_processes = true});
  one.poll();
  EXPECT_TRUE(one.sink.failures.empty());
  for (const char* reason : {"first", "second"}) one.link->failures.push_back({rank_id(1), reason});
  for (int poll = 0; poll < 3; ++poll) {
    one.poll();
    EXPECT_EQ(one.sink.failures, (std::vector<std::string>{"first", "second"}));
  }
}

TEST(backplane, sends_shutdown_behind_the_last_message) {
  scripted_rank one;
  for (std::uint32_t i = 0; i < 3; ++i) one.plane.send(rank_id(1), numbered(i));
  one.plane.close(milliseconds(7));
  EXPECT_EQ(one.link->closed_after, 3U);
  EXPECT_EQ(one.link->close_timeout, milliseconds(7));
}

}  // namespace
}  // namespace nacre::backplane_test
