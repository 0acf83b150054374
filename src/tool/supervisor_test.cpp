// SPDX-License-Identifier: Apache-2.0
// The launcher's decisions, without a process: the cause is named once, consequences are not, and time is bounded.
#include "tool/supervisor.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;

constexpr ending killed{.cause = ending::kind::killed, .number = SIGKILL};
constexpr ending exited(int code) { return {.cause = ending::kind::exited, .number = code}; }

constexpr time_point start{};

/// A job in which all ranks have joined.
supervisor joined_job(std::uint32_t ranks) {
  supervisor job(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) job.joined(rank);
  EXPECT_FALSE(job.decide(start).line);
  return job;
}

TEST(supervisor, is_silent_about_a_job_that_goes_well) {
  supervisor job = joined_job(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    job.left(rank);
    job.ended(rank, exited(0));
    const orders decision = job.decide(start);
    EXPECT_FALSE(decision.line);
    EXPECT_FALSE(decision.announce);
  }
  EXPECT_TRUE(job.over());
  EXPECT_EQ(job.exit_code(), 0);
}

TEST(supervisor, is_silent_about_programs_that_never_join) {
  supervisor job(2);
  job.ended(1, exited(0));
  EXPECT_FALSE(job.decide(start).line);
  job.ended(0, exited(0));
  EXPECT_FALSE(job.decide(start).line);
  EXPECT_EQ(job.exit_code(), 0);
}

TEST(supervisor, names_a_rank_that_is_killed_and_announces_it_at_once) {
  supervisor job = joined_job(3);
  job.ended(2, killed);
  const orders orders = job.decide(start);
  EXPECT_EQ(orders.line, "nacre run: rank 2 was killed by signal 9 (Killed); ending the job");
  ASSERT_TRUE(orders.announce);
  EXPECT_EQ(orders.announce->peer, 2U);
  EXPECT_EQ(orders.announce->reason, "was killed by signal 9 (Killed)");
  EXPECT_TRUE(orders.signals.empty());
  EXPECT_EQ(job.exit_code(), 128 + SIGKILL);
}

TEST(supervisor, names_a_rank_that_exits_with_an_error) {
  supervisor job = joined_job(2);
  job.ended(0, exited(3));
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 0 exited with code 3; ending the job");
  EXPECT_EQ(job.exit_code(), 3);
}

TEST(supervisor, names_a_rank_that_exits_without_a_shutdown_although_its_code_is_zero) {
  supervisor job = joined_job(2);
  job.ended(1, exited(0));
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 1 exited with code 0 before the job was over; ending the job");
  EXPECT_EQ(job.exit_code(), 1);
}

TEST(supervisor, names_a_rank_that_ends_without_joining_while_another_waits_for_it) {
  supervisor job(2);
  job.ended(1, exited(0));
  EXPECT_FALSE(job.decide(start).line);
  job.joined(0);
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 1 exited with code 0 without joining the job; ending the job");
}

TEST(supervisor, lets_the_others_finish_when_a_rank_has_left_with_an_error) {
  supervisor job = joined_job(2);
  job.left(0);
  job.ended(0, exited(1));
  EXPECT_FALSE(job.decide(start).line);
  EXPECT_FALSE(job.is_ending());
  job.left(1);
  job.ended(1, exited(0));
  EXPECT_EQ(job.exit_code(), 1);
}

TEST(supervisor, prefers_the_rank_that_was_killed_to_those_that_exited) {
  supervisor job = joined_job(3);
  job.ended(0, exited(1));
  job.ended(2, killed);
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 2 was killed by signal 9 (Killed); ending the job");
}

TEST(supervisor, waits_for_the_end_of_a_rank_that_a_peer_has_lost) {
  supervisor job = joined_job(3);
  job.lost(0, 2, "closed its connection without a shutdown", start);
  EXPECT_FALSE(job.decide(start).line);
  ASSERT_TRUE(job.due());
  job.ended(0, exited(1));  // a consequence
  EXPECT_FALSE(job.decide(start + milliseconds(10)).line);
  job.ended(2, killed);
  EXPECT_EQ(job.decide(start + milliseconds(20)).line,
            "nacre run: rank 2 was killed by signal 9 (Killed); ending the job");
}

TEST(supervisor, believes_the_peer_when_the_lost_rank_does_not_end) {
  supervisor job = joined_job(3);
  job.lost(0, 2, "closed its connection without a shutdown", start);
  const time_point due = job.due().value();
  EXPECT_FALSE(job.decide(due - milliseconds(1)).line);
  EXPECT_EQ(job.decide(due).line, "nacre run: rank 2 closed its connection without a shutdown; ending the job");
  EXPECT_EQ(job.exit_code(), 1);
}

TEST(supervisor, names_the_first_that_was_lost_when_all_give_each_other_up) {
  supervisor job = joined_job(2);
  job.lost(0, 1, "sent a message of an unknown kind", start);
  job.lost(1, 0, "closed its connection without a shutdown", start);
  job.ended(0, exited(1));
  EXPECT_FALSE(job.decide(start).line);
  job.ended(1, exited(1));
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 1 sent a message of an unknown kind; ending the job");
  EXPECT_EQ(job.exit_code(), 1);
}

TEST(supervisor, blames_a_rank_that_hangs_up_and_goes_on) {
  supervisor job = joined_job(2);
  job.disconnected(1, start);
  EXPECT_FALSE(job.decide(start).line);
  EXPECT_EQ(job.decide(job.due().value()).line, "nacre run: rank 1 ended without a shutdown; ending the job");
}

TEST(supervisor, does_not_promise_to_end_a_job_that_nobody_is_left_of) {
  supervisor alone = joined_job(1);
  alone.ended(0, killed);
  EXPECT_EQ(alone.decide(start).line, "nacre run: rank 0 was killed by signal 9 (Killed)");
  supervisor job = joined_job(2);
  job.left(0);
  job.ended(0, exited(0));
  job.ended(1, killed);
  EXPECT_EQ(job.decide(start).line, "nacre run: rank 1 was killed by signal 9 (Killed)");
}

TEST(supervisor, says_nothing_about_ranks_that_end_after_the_line) {
  supervisor job = joined_job(4);
  job.ended(2, killed);
  EXPECT_TRUE(job.decide(start).line);
  job.ended(0, exited(1));
  job.lost(1, 2, "closed its connection without a shutdown", start);
  job.ended(1, killed);
  EXPECT_FALSE(job.decide(start).line);
  job.ended(3, exited(5));
  EXPECT_FALSE(job.decide(start).line);
  EXPECT_TRUE(job.over());
  EXPECT_EQ(job.exit_code(), 128 + SIGKILL) << "that of the cause";
}

TEST(supervisor, sends_sigterm_after_two_seconds_and_sigkill_before_four) {
  supervisor job = joined_job(2);
  job.ended(1, killed);
  EXPECT_TRUE(job.decide(start).line);
  EXPECT_EQ(job.due(), start + milliseconds(2000));
  EXPECT_TRUE(job.decide(start + milliseconds(1999)).signals.empty());
  EXPECT_EQ(job.decide(start + milliseconds(2000)).signals, std::vector<int>{SIGTERM});
  EXPECT_EQ(job.due(), start + milliseconds(3500));
  EXPECT_EQ(job.decide(start + milliseconds(3500)).signals, std::vector<int>{SIGKILL});
  EXPECT_FALSE(job.due());
}

TEST(supervisor, passes_an_interruption_on_and_kills_at_the_second) {
  supervisor job = joined_job(2);
  job.interrupted(SIGINT, start);
  EXPECT_EQ(job.decide(start).signals, std::vector<int>{SIGINT});
  job.ended(0, {.cause = ending::kind::killed, .number = SIGINT});
  EXPECT_FALSE(job.decide(start).line) << "who interrupts knows why ranks end";
  job.interrupted(SIGINT, start);
  EXPECT_EQ(job.decide(start).signals, std::vector<int>{SIGKILL});
  job.ended(1, killed);
  EXPECT_FALSE(job.decide(start).line);
  EXPECT_EQ(job.exit_code(), 128 + SIGINT);
}

TEST(supervisor, returns_after_an_interruption_what_the_ranks_have_made_of_it) {
  const auto code_after = [](ending first, ending second, bool second_lost_first) {
    supervisor job = joined_job(2);
    job.interrupted(SIGTERM, start);
    static_cast<void>(job.decide(start));
    job.ended(0, first);
    if (second_lost_first) job.lost(1, 0, "closed its connection without a shutdown", start);
    job.ended(1, second);
    EXPECT_FALSE(job.decide(start).line);
    return job.exit_code();
  };
  const ending terminated{.cause = ending::kind::killed, .number = SIGTERM};
  EXPECT_EQ(code_after(exited(0), exited(0), false), 0);
  EXPECT_EQ(code_after(exited(0), exited(3), false), 3);
  EXPECT_EQ(code_after(terminated, exited(0), false), 128 + SIGTERM);
  EXPECT_EQ(code_after(killed, exited(0), false), 128 + SIGTERM) << "it was killed for the interruption";
  EXPECT_EQ(code_after(terminated, exited(1), true), 128 + SIGTERM) << "its own code is a consequence";
}

TEST(supervisor, kills_what_has_not_ended_ten_seconds_after_an_interruption) {
  supervisor job = joined_job(1);
  job.interrupted(SIGTERM, start);
  static_cast<void>(job.decide(start));
  EXPECT_TRUE(job.decide(start + milliseconds(9999)).signals.empty());
  EXPECT_EQ(job.decide(start + milliseconds(10000)).signals, std::vector<int>{SIGKILL});
}

TEST(supervisor, kills_the_others_at_once_when_the_job_can_go_on_from_an_image) {
  supervisor job = joined_job(3);
  job.end_at_once_after_death();
  job.ended(2, killed);
  const orders orders = job.decide(start);
  EXPECT_TRUE(orders.line);
  EXPECT_EQ(orders.signals, std::vector<int>{SIGKILL});
  job.ended(0, killed);
  job.ended(1, killed);
  EXPECT_TRUE(job.by_death());
}

TEST(supervisor, tells_deaths_from_errors_and_interruptions) {
  supervisor failed = joined_job(2);
  failed.end_at_once_after_death();
  failed.ended(1, exited(1));
  EXPECT_TRUE(failed.decide(start).signals.empty()) << "the others may tell something yet";
  EXPECT_FALSE(failed.by_death());
  supervisor interrupted = joined_job(2);
  interrupted.end_at_once_after_death();
  interrupted.interrupted(SIGTERM, start);
  interrupted.ended(1, killed);
  static_cast<void>(interrupted.decide(start));
  EXPECT_FALSE(interrupted.by_death());
}

}  // namespace
}  // namespace nacre::tool
