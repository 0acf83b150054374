// SPDX-License-Identifier: Apache-2.0
// nacre run as its users see it: how ranks start and end, what is printed, and what is passed on.
//
// The executable is its own rank program: `launcher_mp_test --as-rank NAME` runs one of the programs below.
#include "launched.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "am/handler_table.hpp"
#include "join/launch/member.hpp"
#include "transports.hpp"

namespace {

using namespace nacre::tests;

// ---- rank programs

std::uint32_t where(nacre::context& ctx) { return ctx.rank().value(); }

/// Every rank asks every other for its number, and says what it heard.
void meet(nacre::runtime& rt) {
  std::uint32_t sum = 0;
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) sum += rt.call<where>(nacre::rank_id(rank)).get();
  std::printf("rank %u of %u heard %u\n", rt.rank().value(), static_cast<unsigned>(rt.size()), sum);
  std::fflush(stdout);
}

/// Rank 1 ends in the given way while the others wait for it.
template <class End>
void wait_for_rank_one(nacre::runtime& rt, End end) {
  rt.barrier();
  if (rt.rank() == nacre::rank_id(1)) end();
  rt.barrier();
}

void ends_by_abort(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::signal(SIGABRT, SIG_DFL), std::abort(); });
}
void ends_by_exit(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::_Exit(0); });
}
void ends_by_error(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::_Exit(7); });
}

/// Rank 1 is connected with all others, and is killed before it has said anything more.
int meet_or_die_when_met(int argc, char** argv) {
  namespace launch = nacre::launch;
  if (std::string_view(std::getenv("NACRE_JOB_RANK")) != "1") return nacre::run(argc, argv, meet);
  launch::membership membership;
  const launch::joined_rank met = membership.join({.handlers = nacre::handler_table::get().fingerprint()});
  return std::raise(SIGKILL);
}

using rank_program = void (*)(nacre::runtime&);
const std::map<std::string_view, rank_program>& rank_programs() {
  static const std::map<std::string_view, rank_program> all{
      {"meet", meet}, {"abort", ends_by_abort}, {"exit", ends_by_exit}, {"error", ends_by_error}};
  return all;
}

std::vector<std::string> run_script(const std::string& ranks, const std::string& script) {
  return {"run", "-n", ranks, "sh", "-c", script};
}

std::vector<std::string> run_self(const std::string& ranks, const std::string& program) {
  return {"run", "-n", ranks, own_path(), "--as-rank", program, "--nacre.workers=1"};
}

// ---- tests

TEST(nacre_run, connects_the_ranks_of_a_job) {
  for (const unsigned ranks : {1U, 2U, 4U}) {
    const outcome got = nacre_command(run_self(std::to_string(ranks), "meet"));
    EXPECT_EQ(code_of(got), 0) << got.errors;
    EXPECT_EQ(got.errors, "");
    std::set<std::string> expected;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      expected.insert("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " heard " +
                      std::to_string(ranks * (ranks - 1) / 2));
    }
    const std::vector<std::string> lines = lines_of(got.output);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()), expected);
    EXPECT_EQ(lines.size(), ranks);
  }
}

TEST(nacre_run, connects_ranks_whose_program_makes_its_configuration_in_code) {
  const outcome got = nacre_command(run_self("3", "meet_in_code"));
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(lines_of(got.output).size(), 3U);
  EXPECT_NE(got.output.find("rank 2 of 3 heard 3"), std::string::npos) << got.output;
}

TEST(nacre_run, ends_a_job_with_one_line_however_a_rank_ends_before_its_time) {
  const std::map<std::string, std::pair<std::string, int>> expected{
      {"abort", {"nacre run: rank 1 was killed by signal 6 (Aborted); ending the job", 128 + SIGABRT}},
      {"exit", {"nacre run: rank 1 exited with code 0 before the job was over; ending the job", 1}},
      {"error", {"nacre run: rank 1 exited with code 7; ending the job", 7}}};
  for (const auto& [program, line_and_code] : expected) {
    const outcome got = nacre_command(run_self("3", program));
    EXPECT_EQ(lines_of(got.errors), std::vector<std::string>{line_and_code.first}) << program;
    EXPECT_EQ(code_of(got), line_and_code.second) << program;
  }
}

TEST(nacre_run_scripts, end_within_seconds_although_the_others_take_no_notice) {
  const outcome got = nacre_command(
      run_script("3", "trap '' TERM; if [ $NACRE_JOB_RANK = 2 ]; then kill -9 $$; fi; while :; do sleep 600; done"));
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{"nacre run: rank 2 was killed by signal 9 (Killed); ending the job"});
  EXPECT_EQ(code_of(got), 128 + SIGKILL);
  EXPECT_LT(got.seconds, unhurried_end);
  EXPECT_GT(got.wall_seconds, 2.0) << "they have their time to end in peace";
}

TEST(nacre_run_scripts, that_one_rank_leaves_without_joining_end_those_that_wait_for_it) {
  const outcome got =
      nacre_command({"run", "-n", "2", "sh", "-c",
                     "if [ $NACRE_JOB_RANK = 1 ]; then exit 3; fi; exec \"$0\" --as-rank meet", own_path()});
  EXPECT_EQ(lines_of(got.errors), std::vector<std::string>{"nacre run: rank 1 exited with code 3; ending the job"});
  EXPECT_EQ(code_of(got), 3);
}

TEST(nacre_run_scripts, whose_ranks_wait_for_one_that_does_not_come_end_with_one_line_that_says_what_to_change) {
  for (const std::string transport : {"tcp", "shm", "udp"}) {
    const std::string option = "--nacre." + transport + ".connect_timeout";
    const std::string line =
        "nacre run: rank 5 has not joined the job in time: look for an error of it, or give it more time with " +
        option + "; ending the job";
    outcome got;
    for (const std::string limit : {"300ms", "5s", "60s"}) {  // on a busy machine others than rank 5 may be late, too
      got = nacre_command({"run", "-n", "8", "--transport", transport, "sh", "-c",
                           "if [ $NACRE_JOB_RANK = 5 ]; then exec sleep 600; fi; exec \"$0\" \"$@\"", own_path(),
                           "--as-rank", "meet", option + "=" + limit, "--nacre.workers=1"});
      if (lines_of(got.errors) == std::vector<std::string>{line}) break;
    }
    EXPECT_EQ(lines_of(got.errors), std::vector<std::string>{line});
    EXPECT_EQ(code_of(got), 1);
  }
}

TEST(nacre_run, ends_a_job_with_one_line_when_a_rank_is_killed_while_the_ranks_meet) {
  for (const std::string transport : {"shm", "ucx"}) {
    if (transport == "ucx" && !missing_for_ucx().empty()) continue;
    std::vector<std::string> command = run_self("6", "die_when_met");
    command.insert(command.begin() + 3, {"--transport", transport});
    const outcome got = nacre_command(command);
    EXPECT_EQ(lines_of(got.errors),
              std::vector<std::string>{"nacre run: rank 1 was killed by signal 9 (Killed); ending the job"})
        << transport;
    EXPECT_EQ(code_of(got), 128 + SIGKILL);
  }
}

TEST(nacre_run_scripts, that_start_different_binaries_are_refused_with_a_line_that_says_so) {
  const outcome got = nacre_command({"run", "-n", "2", "sh", "-c",
                                     "if [ $NACRE_JOB_RANK = 1 ]; then exec " NACRE_BIN_DIR
                                     "/uts --tree T1; fi; exec \"$0\" --as-rank meet",
                                     own_path()});
  EXPECT_NE(code_of(got), 0);
  EXPECT_NE(got.errors.find("another binary"), std::string::npos) << got.errors;
}

TEST(nacre_run_scripts, that_start_programs_with_other_handlers_are_refused_with_what_to_do_over_every_transport) {
  for (const char* transport : {"tcp", "shm", "udp", "auto"}) {
    const auto start = [&](const char* first, const char* second) {
      return nacre_command({"run", "-n", "2", "--transport", transport, "sh", "-c",
                            "if [ $NACRE_JOB_RANK = 0 ]; then exec " NACRE_BIN_DIR "/\"$0\"; fi; exec " NACRE_BIN_DIR
                            "/\"$1\"",
                            first, second});
    };
    for (const char* program : {"handlers_few", "handlers_many"}) {
      const outcome same = start(program, program);
      EXPECT_EQ(code_of(same), 0) << transport << same.errors;
      EXPECT_EQ(same.output, "all ranks have met\n");
    }
    const outcome other = start("handlers_few", "handlers_many");
    EXPECT_NE(code_of(other), 0);
    EXPECT_NE(other.errors.find("it has other handlers (handler table "), std::string::npos) << other.errors;
    EXPECT_NE(other.errors.find("rebuild, and start every rank from the same executable"), std::string::npos);
    EXPECT_EQ(other.output, "");
  }
}

TEST(nacre_run_scripts, get_rank_and_size_and_labels_tell_their_lines_apart) {
  const outcome got =
      nacre_command({"run", "-n", "3", "--label", "sh", "-c", "echo of $NACRE_JOB_SIZE; echo trouble >&2"});
  EXPECT_EQ(code_of(got), 0);
  const auto sorted_lines_of = [](const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(sorted_lines_of(got.output), (std::vector<std::string>{"[0] of 3", "[1] of 3", "[2] of 3"}));
  EXPECT_EQ(sorted_lines_of(got.errors), (std::vector<std::string>{"[0] trouble", "[1] trouble", "[2] trouble"}));
}

TEST(nacre_run_scripts, run_in_the_folder_that_they_are_given_and_begin_there) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("nacre_wdir_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "where") << "#!/bin/sh\npwd -P; cat \"$NACRE_CONFIG\"\n";
  std::filesystem::permissions(folder / "where", std::filesystem::perms::owner_all);
  std::ofstream(folder / "job.toml") << "workers = 3\n";
  const auto config = std::filesystem::relative(folder / "job.toml");
  const outcome got = nacre_command({"run", "-n", "1", "--wdir", folder, "--config", config, "./where"});
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, std::filesystem::canonical(folder).string() + "\nworkers = 3\n");
  std::filesystem::remove_all(folder);
}

TEST(nacre_run_programs, find_a_file_of_options_in_the_folder_that_they_run_in) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("nacre_options_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "here.toml") << "workers = 1\n";
  for (const std::string place : {"--ranks=2", "--hosts=localhost:2"}) {
    const auto run_there = [&](std::vector<std::string> options, const std::string& last) {
      options.insert(options.begin(), {"run", place, "--wdir", std::filesystem::relative(folder).string()});
      options.insert(options.end(), {own_path(), "--as-rank", "meet", last});
      return nacre_command(options);
    };
    outcome got = run_there({}, "--nacre.config=here.toml");
    EXPECT_EQ(code_of(got), 0) << place << got.errors;
    got = run_there({"-x", "NACRE_CONFIG=here.toml"}, "--nacre.seed=2");
    EXPECT_EQ(code_of(got), 0) << place << got.errors;
    got = run_there({}, "--nacre.config=nowhere.toml");
    EXPECT_EQ(code_of(got), 2) << place << got.errors;
    EXPECT_NE(got.errors.find("nowhere.toml: it cannot be opened"), std::string::npos) << place << got.errors;
  }
  std::filesystem::remove_all(folder);
}

TEST(nacre_run_scripts, of_rank_zero_read_standard_input_and_the_others_find_it_empty) {
  const outcome got = nacre_command(run_script("3", "echo rank $NACRE_JOB_RANK: $(cat)"), "one two\nthree\n");
  std::vector<std::string> lines = lines_of(got.output);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"rank 0: one two three", "rank 1:", "rank 2:"}));
}

TEST(nacre_run_scripts, write_lines_that_never_mix) {
  const outcome got = nacre_command(
      run_script("4", "i=0; r=$NACRE_JOB_RANK; while [ $i -lt 500 ]; do echo $r$r$r$i; i=$((i+1)); done"));
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(lines.size(), 2000U);
  std::array<int, 4> next{};
  for (const std::string& line : lines) {
    const auto rank = static_cast<std::size_t>(line.at(0) - '0');
    ASSERT_LT(rank, 4U);
    ASSERT_EQ(line, std::string(3, line[0]) + std::to_string(next[rank]++));
  }
}

TEST(nacre_run_scripts, get_the_signals_of_the_launcher) {
  for (const int number : {SIGINT, SIGTERM}) {
    launched job(
        nacre_with(run_script("2", "trap 'echo got it; exit 0' INT TERM; echo ready; while :; do sleep 0.02; done")));
    job.read_until("ready\nready\n");
    job.signal(number);
    const outcome got = job.end();
    const std::vector<std::string> lines = lines_of(got.output);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "got it"), 2) << got.output;
    EXPECT_EQ(got.errors.find("nacre run"), std::string::npos) << got.errors;
    EXPECT_EQ(code_of(got), 0) << "every rank has returned 0";
  }
}

TEST(nacre_run_scripts, that_are_interrupted_twice_are_killed) {
  launched job(nacre_with(run_script("2", "trap '' INT; echo ready; while :; do sleep 0.02; done")));
  job.read_until("ready\nready\n");
  job.signal_until_over(SIGINT);
  const outcome got = job.end();
  EXPECT_EQ(code_of(got), 128 + SIGINT);
  EXPECT_EQ(got.errors, "");
}

TEST(nacre_run_scripts, leave_nobody_behind_when_the_launcher_dies_by_whatever_signal) {
  for (const int number : {SIGKILL, SIGABRT}) {
    launched job(nacre_with(run_script("2", "sleep 600 & echo pid $$; echo pid $!; wait")));
    job.read_until("pid ");
    while (lines_of(job.output()).size() < 4) job.read_until(job.output() + "pid ");
    std::vector<pid_t> all;
    for (const std::string& line : lines_of(job.output())) all.push_back(std::stoi(line.substr(4)));
    ASSERT_EQ(all.size(), 4U);
    job.signal(number);
    for (const pid_t each : all) EXPECT_TRUE(vanishes(each)) << each;
  }
}

TEST(nacre_run_scripts, that_leave_a_process_behind_on_purpose_may_do_so) {
  const outcome got = nacre_command(run_script("2", "sleep 600 >/dev/null 2>&1 & echo $!"));
  EXPECT_EQ(code_of(got), 0) << got.errors;
  std::istringstream numbers(got.output);
  int left = 0;
  for (pid_t each = 0; numbers >> each; ++left) EXPECT_EQ(::kill(each, SIGKILL), 0) << "it was killed with the job";
  EXPECT_EQ(left, 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[2]) == "die_when_met") return meet_or_die_when_met(argc, argv);
  if (argc > 2 && std::string_view(argv[2]) == "meet_in_code") {
    nacre::config configuration;
    configuration.set("workers", "1");
    return nacre::run(configuration, meet);
  }
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return nacre::run(argc, argv, rank_programs().at(argv[2]));
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
