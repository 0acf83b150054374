// SPDX-License-Identifier: Apache-2.0
// The runtime on real threads: fairness, the end of a job, and exceptions that end it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"
#include "runtime/options.hpp"
#include "scenarios/scenarios.hpp"

namespace {

using nacre::rank_id;
using nacre::tests::board;
using nacre::tests::board_of;

nacre::config settings(int ranks, int workers) {
  nacre::config configuration;
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", std::to_string(workers));
  return configuration;
}

/// Goes on until somebody has been here, or for so long that nobody will come.
void turn_for_ever(nacre::context& ctx, std::uint64_t turns) {
  board& local_board = board_of(ctx.rank());
  if (local_board.seen != 0 || turns == 0) return;
  ctx.send<turn_for_ever>(ctx.rank(), turns - 1);
  local_board.sum = turns;
}
void come_by(nacre::context& ctx) { board_of(ctx.rank()).seen = 1; }

TEST(options, of_the_command_line_that_have_no_effect_are_told) {
  std::vector<std::string> words{"program", "--nacre.ranks=3", "--nacre.sim.jitter=2", "--nacre.checkpoint.every=1s"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  const nacre::config configuration = nacre::read_config(count, arguments.data());
  EXPECT_EQ(nacre::warnings_about_effects(configuration, false).size(), 2U);
  const std::vector<std::string> launched = [&] {
    nacre::config joined = configuration;
    joined.set("transport", "tcp");
    return nacre::warnings_about_effects(joined, true);
  }();
  ASSERT_EQ(launched.size(), 3U);
  EXPECT_EQ(launched.front().rfind("--nacre.ranks has no effect", 0), 0U) << launched.front();
  nacre::config simulated = configuration;
  simulated.set("transport", "sim");
  simulated.set("checkpoint.folder", "images");
  EXPECT_TRUE(nacre::warnings_about_effects(simulated, true).empty());
}

TEST(runtime_fairness, what_main_sends_is_run_beside_handlers_that_keep_sending_to_their_own_rank) {
  const board& all = board_of(rank_id(0));
  EXPECT_EQ(nacre::run(settings(1, 1),
                       [&](nacre::runtime& rt) {
                         nacre::tests::fresh_board(rt);
                         constexpr std::uint64_t turns = 2'000'000;
                         rt.send<turn_for_ever>(rt.rank(), turns);
                         rt.send<turn_for_ever>(rt.rank(), turns);
                         while (all.sum == 0) std::this_thread::yield();  // the stand-in plays worker 0
                         rt.send<come_by>(rt.rank());
                         rt.wait_quiescence();
                       }),
            0);
  EXPECT_EQ(all.seen, 1U);
  EXPECT_GT(all.sum, 2U) << "it came last";
}

/// Both run inside the poll loop: what a rank says while its only worker computes, and the answer.
void hear(nacre::context& ctx) { board_of(ctx.rank()).seen = 1; }
void ask_back(nacre::context& ctx) { ctx.send<hear>({.category = nacre::category::communication}, ctx.source()); }

/// Asks rank 0, and computes until the answer comes.
void compute_until_heard(nacre::context& ctx, double seconds) {
  const board& local_board = board_of(ctx.rank());
  ctx.send<ask_back>({.category = nacre::category::communication}, rank_id(0));
  const double end = ctx.now() + seconds;
  while (local_board.seen == 0 && ctx.now() < end) continue;
}

TEST(runtime_fallback_poller, a_rank_sends_and_receives_while_its_only_worker_computes) {
  nacre::config configuration = settings(2, 1);
  configuration.set("progress", "shared");
  constexpr double for_ever = 30;
  double spent = 0;
  EXPECT_EQ(nacre::run(configuration,
                       [&](nacre::runtime& rt) {
                         nacre::tests::fresh_board(rt);
                         if (rt.rank() == rank_id(0)) rt.send<compute_until_heard>(rank_id(1), for_ever);
                         rt.wait_quiescence();
                         if (rt.rank() == rank_id(0)) spent = rt.now();
                       }),
            0);
  EXPECT_EQ(board_of(rank_id(1)).seen, 1U);
  EXPECT_LT(spent, for_ever) << "the answer came when nobody waited for it any more";
}

TEST(runtime_ends, a_job_does_not_sleep_on_its_way_out) {
  // A thread that nobody wakes sleeps for 100 ms. A machine that has other work slows down all jobs, and now and then a
  // poll loop is not asleep yet: so the third quickest of ten counts, beside that of jobs without a thread that could
  // sleep.
  using seconds = std::chrono::duration<double>;
  const auto time_of_job = [](const char* progress) {
    nacre::config configuration = settings(1, 1);
    configuration.set("progress", progress);
    const auto begin = std::chrono::steady_clock::now();
    const auto compute = [](nacre::runtime& rt) {
      while (rt.now() < 2e-3) continue;  // until the poll loop has gone to sleep
    };
    EXPECT_EQ(nacre::run(configuration, compute), 0);
    return seconds(std::chrono::steady_clock::now() - begin);
  };
  std::array<seconds, 10> dedicated{}, shared{};
  for (std::size_t job = 0; job < dedicated.size(); ++job) {
    dedicated[job] = time_of_job("dedicated");
    shared[job] = time_of_job("shared");
  }
  std::sort(dedicated.begin(), dedicated.end());
  std::sort(shared.begin(), shared.end());
  EXPECT_LT(dedicated[2].count(), shared[2].count() + 0.08);
}

void charge_nonsense(nacre::context& ctx) {
  const double endless = std::numeric_limits<double>::infinity();
  for (const double cost : {std::nan(""), -1.0, -endless}) ctx.charge(cost);
  if (ctx.now() > 1) throw std::runtime_error("costs that are no times took " + std::to_string(ctx.now()) + " s");
  ctx.charge(1e300);
}

TEST(runtime, costs_that_are_no_times_end_no_simulated_job) {
  nacre::config configuration = settings(2, 1);
  configuration.set("transport", "sim");
  EXPECT_EQ(nacre::run(configuration,
                       [](nacre::runtime& rt) {
                         rt.send<charge_nonsense>(rt.rank());
                         rt.wait_quiescence();
                       }),
            0);
}

void hear_late(nacre::context&) {}
void charge_months(nacre::context& ctx) {
  for (int part = 0; part < 10; ++part) ctx.charge(9e5);
  ctx.send<&hear_late>(rank_id{1});
}

struct cell {
  void fail(int) { throw std::runtime_error("the cell is tired"); }
  template <class Archive>
  void serialize(Archive&) {}
};

void tire(nacre::context& ctx, nacre::mobile_ptr<cell> p) { ctx.send<&cell::fail>(p, 1); }

void leave(int code) { std::exit(code); }

TEST(runtime_death, an_exception_in_a_handler_ends_the_job_and_names_handler_object_and_rank) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    std::exit(nacre::run(settings(2, 1), [](nacre::runtime& rt) {
      if (rt.rank().value() == 0) rt.send<tire>(rank_id(1), rt.create_on<cell>(rank_id(1)).get());
    }));
  };
  EXPECT_EXIT(job(), testing::ExitedWithCode(1), "rank 1: the handler .*fail.* threw: the cell is tired .object 1:1");
}

TEST(runtime_death, virtual_time_beyond_its_bounds_is_told_and_ends_the_job_with_a_line) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [](auto handler) {
    nacre::config configuration = settings(2, 1);
    configuration.set("transport", "sim");
    configuration.set("balancer", "none");  // which would ask every few milliseconds of these months
    std::exit(nacre::run(configuration, [handler](nacre::runtime& rt) {
      if (rt.rank().value() == 0) handler(rt);
      rt.wait_quiescence();
    }));
  };
  EXPECT_EXIT(job([](nacre::runtime& rt) { rt.send<&charge_months>(rt.rank()); }), testing::ExitedWithCode(1),
              "^nacre: rank 0: it sends after 100 days of virtual time");
  EXPECT_EXIT(job([](nacre::runtime& rt) { rt.send<&charge_nonsense>(rt.rank()); }), testing::ExitedWithCode(0),
              "^nacre: rank 0 charges 1e\\+300 s at once, and all above 1e6 s counts as 1e6 s[^\n]*\n$");
}

TEST(runtime_death, an_exception_in_main_ends_the_job_with_its_text) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    std::exit(nacre::run(settings(2, 1), [](nacre::runtime& rt) {
      if (rt.rank().value() == 1) throw std::runtime_error("out of paper");
      rt.barrier();
    }));
  };
  EXPECT_EXIT(job(), testing::ExitedWithCode(1), "rank 1: main threw: out of paper");
}

TEST(runtime_death, what_main_throws_may_be_no_exception_of_the_standard_library) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* transport : {"inproc", "sim"}) {
    const auto job = [transport] {
      nacre::config configuration = settings(1, 1);
      configuration.set("transport", transport);
      std::exit(nacre::run(configuration, [](nacre::runtime&) { throw std::string("out of paper"); }));
    };
    EXPECT_EXIT(job(), testing::ExitedWithCode(1), "rank 0: main threw: an exception that is no std::exception");
  }
}

TEST(runtime_death, exit_in_a_main_or_a_handler_ends_the_process_with_a_line_and_never_with_code_zero) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* transport : {"inproc", "sim"}) {
    for (const bool in_handler : {false, true}) {
      const auto job = [=](int code) {
        nacre::config configuration = settings(3, 1);
        configuration.set("transport", transport);
        return nacre::run(configuration, [=](nacre::runtime& rt) {
          rt.barrier();
          if (rt.rank().value() == 1 && !in_handler) std::exit(code);
          if (rt.rank().value() == 1) rt.call<leave>(rank_id(2), code).get();
          rt.barrier();
        });
      };
      EXPECT_EXIT(job(0), testing::ExitedWithCode(1), "^nacre: exit.0. was called before the job was over")
          << transport;
      EXPECT_EXIT(job(7), testing::ExitedWithCode(7), "exit.7. was called .*: return from main, or throw") << transport;
      EXPECT_EXIT(job(256), testing::ExitedWithCode(1), "exit.256. was called") << transport;
    }
  }
  EXPECT_EXIT(std::exit(nacre::run(settings(3, 1), [](nacre::runtime&) {}) + 5), testing::ExitedWithCode(5), "^$");
}

TEST(runtime_death, exit_of_all_ranks_at_once_keeps_the_code_and_the_objects_that_they_use) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [] {
    nacre::run(settings(8, 1), [](nacre::runtime& rt) {
      rt.barrier();
      std::exit(9);
    });
  };
  for (int repetition = 0; repetition < 10; ++repetition) {
    EXPECT_EXIT(job(), testing::ExitedWithCode(9), "^nacre: exit.9. was called before the job was over[^\n]*\n$");
  }
}

TEST(runtime, leaves_children_that_a_main_has_forked_to_their_exit) {
  if (nacre::tests::sanitized) GTEST_SKIP() << "in the child, the threads that hold the memory are gone";
  int status = -1;
  EXPECT_EQ(nacre::run(settings(1, 1),
                       [&](nacre::runtime&) {
                         const pid_t child = ::fork();
                         if (child == 0) std::exit(0);
                         EXPECT_EQ(::waitpid(child, &status, 0), child);
                       }),
            0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Allows this process so much memory beside what it has.
void leave_memory(std::uint64_t bytes) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  ::setrlimit(RLIMIT_AS, &limit);
}

TEST(runtime_death, a_job_with_more_threads_than_can_be_started_says_so_and_what_to_do) {
  if (nacre::tests::sanitized) GTEST_SKIP() << "sanitizers need all addresses there are";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto job = [](int ranks, int workers) {
    leave_memory(std::uint64_t{1} << 30);  // for a hundred stacks
    std::exit(nacre::run(settings(ranks, workers), [](nacre::runtime& rt) { rt.barrier(); }));
  };
  const std::string line = "only [0-9]+ of [0-9]+ threads could be started: Resource temporarily unavailable .*ulimit";
  EXPECT_EXIT(job(1, 2000), testing::ExitedWithCode(2), "^nacre: " + line);
  // Ranks that begin at the same time may lack the memory itself first.
  EXPECT_EXIT(job(500, 2), testing::ExitedWithCode(1), "nacre: rank [0-9]+: (" + line + "|std::bad_alloc)");
}

}  // namespace
