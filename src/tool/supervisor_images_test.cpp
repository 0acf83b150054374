// SPDX-License-Identifier: Apache-2.0
// The launcher's decisions about a job that writes images: a last one is awaited, for a bounded time.
#include "tool/supervisor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <vector>

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;

constexpr ending dead_end{.cause = ending::kind::killed, .number = SIGKILL};
constexpr ending exit_with(int code) { return {.cause = ending::kind::exited, .number = code}; }

constexpr time_point noon{};

/// A job in which all ranks have joined.
supervisor joined_ranks(std::uint32_t ranks) {
  supervisor job(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) job.joined(rank);
  return job;
}
supervisor job_with_images(std::uint32_t ranks) {
  supervisor job = joined_ranks(ranks);
  job.end_behind_image(SIGTERM, milliseconds(5000));
  return job;
}

TEST(supervisor_of_images, asks_for_a_last_image_and_is_silent_about_the_ranks_that_end_behind_it) {
  supervisor job = job_with_images(2);
  job.interrupted(SIGTERM, noon);
  const orders orders = job.decide(noon);
  EXPECT_EQ(orders.ask_for_image, SIGTERM);
  EXPECT_TRUE(orders.signals.empty()) << "the ranks do not get the signal";
  EXPECT_FALSE(job.is_ending());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    job.left(rank);
    job.ended(rank, exit_with(75));
    EXPECT_FALSE(job.decide(noon + milliseconds(100)).line);
  }
  EXPECT_EQ(job.exit_code(), 75);
  EXPECT_FALSE(job.missed_image());
}

TEST(supervisor_of_images, kills_the_ranks_when_no_image_has_come_or_a_second_signal_has) {
  for (const bool second : {false, true}) {
    supervisor job = job_with_images(2);
    job.interrupted(SIGTERM, noon);
    static_cast<void>(job.decide(noon));
    EXPECT_EQ(job.due(), noon + milliseconds(5000));
    EXPECT_FALSE(job.decide(noon + milliseconds(4999)).line);
    const time_point then = noon + milliseconds(second ? 4999 : 5000);
    if (second) job.interrupted(SIGINT, then);
    const orders orders = job.decide(then);
    EXPECT_EQ(orders.line, second ? "nacre run: a second signal came before the image; ending the job"
                                  : "nacre run: no image came within 5 s; ending the job");
    EXPECT_EQ(orders.signals, std::vector<int>{SIGKILL});
    for (const std::uint32_t rank : {0U, 1U}) job.ended(rank, dead_end);
    EXPECT_FALSE(job.decide(then).line);
    EXPECT_EQ(job.exit_code(), 128 + SIGTERM);
    EXPECT_TRUE(job.missed_image());
  }
}

TEST(supervisor_of_images, does_not_start_a_job_again_whose_rank_dies_in_its_last_image) {
  supervisor job = job_with_images(2);
  job.end_at_once_after_death();
  job.interrupted(SIGTERM, noon);
  static_cast<void>(job.decide(noon));
  job.ended(1, dead_end);
  const orders orders = job.decide(noon);
  EXPECT_EQ(orders.line, "nacre run: rank 1 was killed by signal 9 (Killed); ending the job");
  EXPECT_EQ(orders.signals, std::vector<int>{SIGKILL});
  job.ended(0, dead_end);
  EXPECT_FALSE(job.by_death());
  EXPECT_TRUE(job.missed_image());
}

TEST(supervisor_of_images, takes_a_file_that_is_too_long_for_an_error_of_the_program) {
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    supervisor job = job_with_images(2);
    job.ended(1, {.cause = ending::kind::killed, .number = signal});
    static_cast<void>(job.decide(noon));
    EXPECT_EQ(job.by_death(), signal == SIGPIPE);
    EXPECT_EQ(job.by_error(), signal == SIGXFSZ);
    EXPECT_EQ(job.cause_of_end()->signal, signal);
    EXPECT_EQ(job.exit_code(), 128 + signal);
  }
}

/// The launcher may wait long for a slow reader of the output when the ranks have ended.
TEST(supervisor_of_images, does_not_start_a_job_again_that_is_interrupted_after_a_death) {
  for (const int signal : {SIGTERM, SIGINT}) {
    supervisor job = job_with_images(2);
    job.end_at_once_after_death();
    job.ended(1, dead_end);
    static_cast<void>(job.decide(noon));
    job.ended(0, dead_end);
    EXPECT_TRUE(job.by_death());
    job.interrupted(signal, noon);
    EXPECT_FALSE(job.by_death());
    EXPECT_EQ(job.missed_image(), signal == SIGTERM) << "an older one may be there";
    EXPECT_EQ(job.exit_code(), 128 + SIGKILL);
  }
}

TEST(supervisor_of_images, awaits_no_image_of_ranks_that_have_not_joined) {
  supervisor job(2);
  job.end_behind_image(SIGTERM, milliseconds(5000));
  job.interrupted(SIGTERM, noon);
  const orders decision = job.decide(noon);
  EXPECT_EQ(decision.signals, std::vector<int>{SIGTERM});
  EXPECT_FALSE(decision.ask_for_image);
  for (const std::uint32_t rank : {0U, 1U}) job.ended(rank, {.cause = ending::kind::killed, .number = SIGTERM});
  EXPECT_TRUE(job.missed_image()) << "an older one may be there";
  EXPECT_EQ(job.exit_code(), 128 + SIGTERM);
}

TEST(supervisor_of_images, passes_other_signals_on_also_in_a_job_with_images) {
  supervisor job = job_with_images(1);
  job.interrupted(SIGINT, noon);
  EXPECT_EQ(job.decide(noon).signals, std::vector<int>{SIGINT});
  job.ended(0, {.cause = ending::kind::killed, .number = SIGINT});
  EXPECT_FALSE(job.missed_image());
  EXPECT_EQ(job.exit_code(), 128 + SIGINT);
}

/// Peers notice that a host has fallen silent long before the connection of its agent ends.
TEST(supervisor_of_images, sees_in_the_end_that_a_host_was_lost_whose_rank_was_blamed) {
  for (const ending::kind cause : {ending::kind::lost, ending::kind::killed, ending::kind::exited}) {
    supervisor job = joined_ranks(3);
    job.end_at_once_after_death();
    job.lost(0, 2, "does not answer", noon);
    const time_point then = noon + milliseconds(4000);
    EXPECT_TRUE(job.decide(then).line);
    EXPECT_FALSE(job.by_death());
    job.ended(2, {.cause = cause, .number = cause == ending::kind::killed ? SIGKILL : 0});
    EXPECT_EQ(job.by_death(), cause != ending::kind::exited);
    EXPECT_EQ(job.cause_of_end()->rank, 2U);
    EXPECT_EQ(job.cause_of_end()->host_lost, cause == ending::kind::lost);
  }
}

TEST(supervisor_of_images, does_not_take_a_rank_for_killed_that_it_has_ended_itself) {
  supervisor job = joined_ranks(2);
  job.end_at_once_after_death();
  job.lost(0, 1, "does not answer", noon);
  static_cast<void>(job.decide(noon + milliseconds(4000)));
  static_cast<void>(job.decide(noon + milliseconds(9000)));  // SIGTERM and SIGKILL
  job.ended(1, dead_end);
  EXPECT_FALSE(job.by_death());
}

TEST(supervisor_of_images, says_whether_an_error_has_ended_the_job_and_whose) {
  supervisor failed = joined_ranks(2);
  failed.ended(1, exit_with(1));
  static_cast<void>(failed.decide(noon));
  EXPECT_TRUE(failed.by_error());
  EXPECT_EQ(failed.cause_of_end()->rank, 1U);
  supervisor lost = joined_ranks(2);
  lost.ended(0, {.cause = ending::kind::lost, .number = 0});
  static_cast<void>(lost.decide(noon));
  EXPECT_FALSE(lost.by_error());
  EXPECT_TRUE(lost.cause_of_end()->host_lost);
}

}  // namespace
}  // namespace nacre::tool
