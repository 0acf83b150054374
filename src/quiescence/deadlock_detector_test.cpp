// SPDX-License-Identifier: Apache-2.0
// When a deadlock is reported, and when not: the waves, rank by rank, on a clock that the test sets.
#include "quiescence/deadlock_test_kit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace nacre::quiescence {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(deadlock, is_told_once_when_the_patience_is_over_with_the_sums_of_all_ranks) {
  for (const std::uint32_t size : {1U, 2U, 7U, 40U}) {
    job job(size);
    job.pass(patience);
    EXPECT_TRUE(job.told.empty()) << size << " ranks: too early";
    job.pass(patience);
    ASSERT_EQ(job.told.size(), 1U) << size << " ranks";
    EXPECT_GE(job.told.front(), patience);
    EXPECT_TRUE(job.last.still);
    EXPECT_EQ(job.last.calls, size);
    EXPECT_EQ(job.last.units, (unit_counters{.created = 5 * size, .done = 3 * size}));
    EXPECT_EQ(job.last.mains[0].count, size);
    EXPECT_LE(job.last.mains[0].first.size(), deadlock_report::ranks_told_max);
    EXPECT_EQ(job.last.mains[0].first.front(), 0U);
    job.pass(10 * patience);
    EXPECT_EQ(job.told.size(), 1U) << "again";
    EXPECT_TRUE(job.went_on.empty());
  }
}

TEST(deadlock, is_told_while_the_numbers_of_waves_wrap) {
  job job(7, 2, ~std::uint32_t{0} - 2);
  job.pass(2 * patience);
  EXPECT_EQ(job.told.size(), 1U);
}

TEST(deadlock, is_none_while_one_rank_is_not_at_rest_wherever_it_is_in_the_tree) {
  for (std::uint32_t busy = 0; busy < 7; ++busy) {
    job job(7);
    job.at(busy).at_rest = false;
    job.pass(10 * patience);
    EXPECT_TRUE(job.told.empty()) << "rank " << busy;
    job.at(busy).at_rest = true;
    job.pass(2 * patience);
    EXPECT_EQ(job.told.size(), 1U) << "rank " << busy << " has come to rest";
  }
}

TEST(deadlock, is_none_while_anything_is_counted_on_one_rank_between_the_looks) {
  for (std::uint32_t active = 0; active < 7; ++active) {
    for (int number = 0; number < 3; ++number) {
      job job(7);
      for (int times = 0; times < 40; ++times) {
        job.pass(patience / 2);
        deadlock_detector::snapshot& snapshot = job.at(active);
        ++(number == 0 ? snapshot.units.created : number == 1 ? snapshot.units.done : snapshot.begun);
      }
      EXPECT_TRUE(job.told.empty()) << "rank " << active << ", number " << number;
      job.pass(2 * patience);
      EXPECT_EQ(job.told.size(), 1U);
    }
  }
}

TEST(deadlock, is_told_no_earlier_than_the_patience_after_the_last_work_of_any_rank) {
  for (std::uint32_t active = 0; active < 7; ++active) {
    job job(7);
    job.pass(patience / 2);
    for (int times = 0; times < 10; ++times) {
      job.pass(patience / 4);
      ++job.at(active).units.done;
    }
    job.pass(patience);
    EXPECT_TRUE(job.told.empty()) << "rank " << active;
    job.pass(patience);
    EXPECT_EQ(job.told.size(), 1U) << "rank " << active;
  }
}

TEST(deadlock, is_none_when_all_that_was_created_is_done) {
  job job(3);
  for (std::uint32_t r = 0; r < 3; ++r) job.at(r).units = {.created = 4, .done = 4};
  job.at(1).units.created = 7;  // created here, done on another rank
  job.at(2).units.done = 7;
  job.pass(10 * patience);
  EXPECT_TRUE(job.told.empty());
}

TEST(deadlock, is_none_while_a_rank_does_not_answer) {
  job job(7);
  job.answers(4, false);
  job.pass(10 * patience);
  EXPECT_TRUE(job.told.empty());
  ++job.at(4).units.done;  // this rank has worked
  job.answers(4, true);
  job.pass(patience);
  EXPECT_TRUE(job.told.empty()) << "the patience begins anew";
  job.pass(patience);
  EXPECT_EQ(job.told.size(), 1U);
}

TEST(deadlock, is_told_on_a_slow_network_too) {
  job job(7);
  job.delay = 3s;
  job.pass(10 * patience);
  EXPECT_EQ(job.told.size(), 1U);
}

TEST(deadlock, is_told_again_after_work_has_gone_on_which_is_told_too) {
  for (const std::uint32_t active : {0U, 6U}) {
    job job(7);
    job.pass(2 * patience);
    ASSERT_EQ(job.told.size(), 1U);
    ++job.at(active).units.done;
    job.pass(patience + 100ms);
    ASSERT_EQ(job.went_on.size(), 1U) << "rank " << active;
    EXPECT_GE(job.went_on.front(), 2 * patience - 3s);
    job.pass(2 * patience);
    EXPECT_EQ(job.told.size(), 2U);
    EXPECT_EQ(job.went_on.size(), 1U);
  }
}

TEST(deadlock, costs_nothing_while_rank_0_works_and_two_messages_on_each_edge_a_quarter_of_the_patience_at_most) {
  job job(40);
  job.at(0).at_rest = false;
  job.pass(10 * patience);
  EXPECT_EQ(job.sent, 0U);
  for (int times = 0; times < 100; ++times) {
    job.at(0).at_rest = true;
    job.pass(100ms);
    ++job.at(0).units.done;
  }
  EXPECT_EQ(job.sent, 0U) << "rank 0 itself has worked";
  job.pass(patience);
  EXPECT_LE(job.sent, 4U * 2U * 39U);
}

TEST(deadlock, of_a_job_that_waits_for_what_runs_on_any_rank_is_told_so_and_its_end_soon_too) {
  for (const std::uint32_t running : {0U, 3U, 6U}) {
    job job(7);
    job.at(running).running = 1;
    job.pass(2 * patience);
    ASSERT_EQ(job.told.size(), 1U) << "rank " << running;
    EXPECT_EQ(job.last.running, 1U);
    job.pass(patience);
    EXPECT_EQ(job.told.size(), 1U) << "again";
    job.at(running).running = 0;
    ++job.at(running).units.done;
    job.pass(patience / 4 + 100ms);
    ASSERT_EQ(job.went_on.size(), 1U) << "rank " << running;
    EXPECT_LE(job.went_on.front(), 3 * patience + patience / 2);
  }
}

TEST(deadlock, is_none_while_code_runs_for_which_nobody_waits) {
  job job(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.at(rank) = {.at_rest = true, .units = {.created = 5, .done = 4}, .running = 1, .waiting = 0, .begun = 4};
  }
  job.pass(3 * patience);
  EXPECT_TRUE(job.told.empty()) << "two mains compute";
  ++job.at(0).units.created;  // for a message that waits
  job.pass(2 * patience);
  EXPECT_EQ(job.told.size(), 1U);
}

TEST(deadlock, is_none_while_handlers_end_and_others_begin) {
  job job(7);
  job.at(6).running = 1;
  for (int times = 0; times < 40; ++times) {
    job.pass(patience / 2);
    ++job.at(6).begun;
  }
  EXPECT_TRUE(job.told.empty());
}

class silent_host final : public deadlock_detector::host {
 public:
  void send_probe(rank_id, std::uint32_t, bool) override { ++outputs; }
  void send_answer(rank_id, std::uint32_t, deadlock_report) override { ++outputs; }
  void give_up_waits() override { ++outputs; }
  deadlock_report report_of_rank() override { return {}; }
  nanoseconds now() override { return nanoseconds(0); }
  void tell(const deadlock_report&, nanoseconds) override { ++outputs; }
  void tell_going_on(nanoseconds) override { ++outputs; }
  int outputs = 0;
};

TEST(deadlock, takes_each_message_only_in_the_state_that_waits_for_it) {
  constexpr rank_id parent{0}, child{3}, sibling{2};
  silent_host host;
  deadlock_detector rank_1({.self = rank_id{1}, .size = 5, .patience = patience, .arity = 2});
  const deadlock_report none;
  EXPECT_FALSE(rank_1.on_answer(host, child, 0, none)) << "resting";
  EXPECT_FALSE(rank_1.on_probe(sibling, 1, false)) << "not the parent";
  EXPECT_FALSE(rank_1.on_probe(parent, 0, false)) << "no new wave";
  EXPECT_TRUE(rank_1.on_probe(parent, 3, false)) << "others may not have reached this rank";
  EXPECT_FALSE(rank_1.on_probe(parent, 4, false)) << "it has not looked";
  EXPECT_FALSE(rank_1.on_answer(host, child, 3, none)) << "it has asked nobody";
  EXPECT_EQ(host.outputs, 0);
  rank_1.on_look(host, {.at_rest = true, .units = {}, .begun = 0});
  EXPECT_EQ(host.outputs, 2) << "two probes";
  EXPECT_FALSE(rank_1.on_probe(parent, 4, false)) << "the wave is not home yet";
  EXPECT_FALSE(rank_1.on_answer(host, sibling, 3, none)) << "not a child";
  EXPECT_FALSE(rank_1.on_answer(host, child, 2, none)) << "an earlier wave";
  EXPECT_TRUE(rank_1.on_answer(host, child, 3, none));
  EXPECT_FALSE(rank_1.on_answer(host, child, 3, none)) << "twice";
  EXPECT_TRUE(rank_1.on_answer(host, rank_id{4}, 3, none));
  EXPECT_EQ(host.outputs, 3) << "its own answer";
  EXPECT_FALSE(rank_1.on_probe(parent, 3, false)) << "over";
}

TEST(deadlock_report, has_a_bound_however_many_ranks_it_adds_up) {
  deadlock_report all;
  for (std::uint32_t rank = 100; rank > 0; --rank) {
    deadlock_report one;
    one.note_main(rank_id(rank), rank == 50 ? main_wait::result : main_wait::end_of_job);
    for (std::uint64_t step = 0; step < 3; ++step) {
      one.handlers.add(report_lines::urgency::numbered, rank + step, [&] { return std::to_string(rank + step); });
    }
    all.add(one);
  }
  ASSERT_EQ(all.handlers.lines().size(), deadlock_report::handlers_told_max);
  EXPECT_EQ(all.handlers.count(), 300U);
  EXPECT_EQ(all.handlers.lines().front().text, "1") << "the least number of all ranks comes first";
  EXPECT_EQ(all.mains[static_cast<std::size_t>(main_wait::end_of_job)].count, 99U);
  EXPECT_EQ(all.mains[static_cast<std::size_t>(main_wait::end_of_job)].first, (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST(deadlock_report, is_put_into_one_line) {
  deadlock_report all;
  all.units = {.created = 9, .done = 7};
  all.calls = 2;
  all.awaited = all.self_calls = 1;
  all.handlers.add(report_lines::urgency::cause, 0, [] {
    return std::string("hermit::wait on object 1:1 on rank 1 awaits a handler of its own object");
  });
  all.note_main(rank_id(1), main_wait::result);
  for (const std::uint32_t rank : {0U, 2U, 3U, 4U, 5U}) all.note_main(rank_id(rank), main_wait::end_of_job);
  EXPECT_EQ(
      line_of_deadlock(all, 10s, 3s),
      "nacre: nothing has happened for 10 s, though 2 messages have not been dealt with to the end and 2 calls have "
      "no result: hermit::wait on object 1:1 on rank 1 awaits a handler of its own object; main waits for a result "
      "on rank 1, main has ended on ranks 0, 2, 3, 4 and 1 more. A handler that awaits its own "
      "object waits for ever: let it call the member function itself. --nacre.deadlock_patience=0s turns this "
      "line off\n");
  all.running = 2;
  all.unreturned = {"the handler spin on rank 1, worker 0"};
  EXPECT_EQ(line_of_deadlock(all, 10s, 310ms),
            "nacre: the job waits for code that has not returned for 10 s, since 0.31 s after the start: the handler "
            "spin on rank 1, worker 0; 2 in all; hermit::wait on object 1:1 on rank 1 awaits a handler of its own "
            "object; main waits for a result on rank 1, main has ended on ranks 0, 2, 3, 4 and 1 more. Code that waits "
            "by a lock, a semaphore or a promise keeps its thread from all other work: a handler waits by co_await, "
            "main by get() of a nacre::future. --nacre.deadlock_patience=0s turns this line off\n");
  EXPECT_EQ(line_of_going_on(12'500ms), "nacre: work goes on after 12.5 s\n");
  EXPECT_EQ(line_of_going_on(3601s), "nacre: work goes on after 3601 s\n");
}

}  // namespace
}  // namespace nacre::quiescence
