// SPDX-License-Identifier: Apache-2.0
// Trace files: the events that come back, and the notes on missing parts.
#include "trace/trace_log_test_kit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace nacre::trace {
namespace {

TEST_F(files, give_back_what_was_recorded_in_the_order_of_time) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    fill(file, 0, 5000, 0, 7, 1000, 400);
    fill(file, 1, 105000, -99900, 7, 1000, 400);
  }
  const trace_log log(path_);
  ASSERT_EQ(log.tracks().size(), 2U) << "the other thread_contexts have nothing to tell";
  EXPECT_EQ(log.job().handlers[2], "second");
  EXPECT_EQ(log.end_ns(), 1000 * 30 + 100);
  for (std::size_t index = 0; index < 2; ++index) {
    const std::int64_t late = index == 0 ? 0 : 100;  // by the clock of rank 0
    std::vector<event> all;
    log.visit(index, [&](std::span<const event> events) { all.insert(all.end(), events.begin(), events.end()); });
    ASSERT_EQ(all.size(), 3000U);
    for (std::int64_t each = 0; each < 1000; ++each) {
      const event* const three = &all[static_cast<std::size_t>(3 * each)];
      EXPECT_EQ(three[0].kind, event_kind::handler_begin);
      EXPECT_EQ(three[0].a, 2U);
      EXPECT_EQ(three[0].ns, late + 20 + 30 * each);
      EXPECT_EQ(three[1].kind, event_kind::send);
      EXPECT_EQ(three[1].a, 1U - index);
      EXPECT_EQ(three[1].b, 300U);
      EXPECT_EQ(three[2].ns, late + 30 + 30 * each);
    }
  }
}

TEST_F(files, have_times_by_both_instants_of_a_clock_that_drifts_and_tell_how_wrong_it_may_be) {
  {
    file_writer file(path_);
    tell_job(file, two_ranks());
    rank_trace::description description;
    description.thread_bytes = 1 << 16;
    rank_trace trace(
        file, description, [](const void*) { return virtual_now; }, nullptr);
    trace.tell_clock({.tick = 1000, .host_ns = 0, .offset_ns = 5000, .error_ns = 10}, 7);
    virtual_now = 2000;
    trace.of_thread(0).add(event_kind::quiet);
    trace.tell_clock({.tick = 3000, .host_ns = 2000, .offset_ns = 5500, .error_ns = 1400}, 7);
    trace.finish();
  }
  EXPECT_EQ(refusal(), "");
  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(std::get<0>(seen_.front()), 1250);
  const trace_log log(path_);
  EXPECT_EQ(log.end_ns(), 2500);
  EXPECT_EQ(log.clock_error_ns(), 1400);
  EXPECT_EQ(log.notes(), (std::vector<std::string>{
                             "There is nothing of rank 1 in it.",
                             "Times of ranks on different clocks may be off against each other by up to 1.4 us."}));
}

TEST_F(files, of_ranks_that_have_compared_their_clocks_with_a_third_tell_the_sum_of_their_errors) {
  {
    file_writer file(path_);
    job_description job = two_ranks();
    job.ranks = 4;
    tell_job(file, job);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      rank_trace trace(
          file, {.rank = rank, .workers = 1, .thread_contexts = 3, .host = "here", .thread_bytes = 1 << 16},
          [](const void*) { return virtual_now; }, nullptr);
      trace.tell_clock({.tick = 1000, .host_ns = 0, .error_ns = std::array{0, 30, 100, 70}[rank]}, 7);
      trace.tell_clock({.tick = 2000, .host_ns = 1000, .error_ns = 10}, 7);
      trace.finish();
    }
  }
  EXPECT_EQ(trace_log(path_).clock_error_ns(), 170);
}

TEST_F(files, of_several_processes_are_one_trace_and_those_that_are_missing_are_named) {
  write_file_for_each_rank();
  EXPECT_EQ(trace_log(path_).tracks().size(), 2U);
  EXPECT_TRUE(trace_log(path_).notes().empty());
  std::filesystem::remove(path_ + ".1");
  const trace_log half(path_);
  ASSERT_EQ(half.notes().size(), 1U);
  EXPECT_EQ(half.notes().front(), "There is no file " + path_ + ".1: rank 1 is missing.");
}

TEST_F(files, of_two_jobs_under_one_name_give_the_one_that_was_written_last_and_name_both) {
  using std::chrono::seconds;
  write_two_ranks(3);
  for (const std::uint32_t rank : {0U, 1U}) {
    file_writer file(path_ + "." + std::to_string(rank));
    job_description job = two_ranks();
    job.program = "another";
    tell_job(file, job);
    fill(file, rank, 5000, 0, 7, 3);
  }
  const auto now = std::filesystem::last_write_time(path_);
  for (const bool single : {true, false}) {
    std::filesystem::last_write_time(path_ + ".0", now + seconds(single ? -1 : 1));
    const trace_log log(path_);
    EXPECT_EQ(log.job().program, single ? "test" : "another");
    ASSERT_EQ(log.notes().size(), 1U);
    EXPECT_EQ(log.notes()[0], "There are " + path_ + " and " + path_ + ".0, of two jobs: this is " + path_ +
                                  (single ? "" : ".0") + ", which was written last.");
  }
}

TEST_F(files, of_one_rank_alone_are_a_trace_that_says_who_is_missing) {
  write_file_for_each_rank();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const trace_log one(path_ + "." + std::to_string(rank));
    ASSERT_EQ(one.tracks().size(), 1U);
    EXPECT_EQ(one.tracks().front().rank, rank);
    EXPECT_EQ(one.notes(),
              std::vector<std::string>{"There is nothing of rank " + std::to_string(1 - rank) + " in it."});
  }
  std::filesystem::remove(path_ + ".0");
  EXPECT_NE(refusal().find("the file of rank 0 is missing beside '" + path_ + ".1'"), std::string::npos) << refusal();
}

TEST_F(files, that_meet_the_limit_on_their_length_end_there_and_end_no_process) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit length{.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &length) != 0 || ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO) < 0) ::_exit(9);
    write_two_ranks(20'000);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const trace_log log(path_);
  EXPECT_EQ(log.job().ranks, 2U);
  EXPECT_FALSE(log.notes().empty());
}

TEST_F(files, without_an_end_name_the_ranks_that_have_none) {
  {
    file_writer file(path_);
    job_description job = two_ranks();
    job.ranks = 13;
    tell_job(file, job);
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
      rank_trace trace(
          file, {.rank = rank, .workers = 1, .thread_contexts = 3, .host = "here", .thread_bytes = 1 << 16},
          [](const void*) { return virtual_now; }, nullptr);
      trace.tell_clock({.tick = 1000, .host_ns = 5000}, 7);
      if (rank == 3) trace.tell_clock({.tick = 2000, .host_ns = 6000}, 7);
      if (rank == 3) trace.finish();
    }
  }
  const trace_log log(path_);
  ASSERT_EQ(log.notes().size(), 2U);
  EXPECT_EQ(log.notes()[0], "There is nothing of rank 12 in it.");
  EXPECT_TRUE(log.notes()[1].starts_with("There is no end of what ranks 0, 1, 2, 4, 5, 6, 7, 8 and 3 more wrote: "))
      << log.notes()[1];
}

}  // namespace
}  // namespace nacre::trace
