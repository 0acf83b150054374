// SPDX-License-Identifier: Apache-2.0
// The output of ranks under nacre run: it comes while they run, and none of it is lost when one ends badly.
//
// The executable is its own rank program: `output_mp_test --as-rank NAME` runs one of the programs below.
#include "launched.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using namespace nacre::tests;

// ---- rank programs, none of which flushes its output

volatile std::sig_atomic_t asked_to_end = 0;

void wait_until_asked_to_end() {
  while (asked_to_end == 0) ::poll(nullptr, 0, 10);
}

void prints_and_waits(nacre::runtime& rt) {
  std::printf("printed by rank %u\n", rt.rank().value());
  if (rt.rank().value() == 0) std::cout << "streamed by rank 0\n";
  wait_until_asked_to_end();
}

[[noreturn]] void die_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();
}

void prints_and_crashes(nacre::runtime& rt) {
  rt.barrier();
  if (rt.rank().value() == 1) {
    std::printf("the last words of rank 1\n");
    die_by(SIGSEGV);
  }
  rt.barrier();
}

void prints_and_throws(nacre::runtime& rt) {
  rt.barrier();
  if (rt.rank().value() == 1) {
    std::printf("the last words of rank 1");
    throw std::runtime_error("enough");
  }
  rt.barrier();
}

using rank_program = void (*)(nacre::runtime&);

/// Whether the standard descriptors lead to /dev/null, as those that were closed do.
bool has_nothing_but_dev_null() {
  for (const char* each : {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"}) {
    std::error_code missing;
    if (std::filesystem::read_symlink(each, missing) != "/dev/null") return false;
  }
  return true;
}

void prints_much(nacre::runtime& rt) {
  for (int line = 0; line < 10'000; ++line) std::printf("line %d of rank %u\n", line, rt.rank().value());
  std::fflush(stdout);
  std::fprintf(stderr, "and an error\n");
  rt.barrier();
}

int run_as_rank(std::string_view name, int argc, char** argv) {
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  static const std::map<std::string_view, rank_program> programs{
      {"waits", prints_and_waits}, {"crashes", prints_and_crashes}, {"throws", prints_and_throws}};
  if (name == "crashes_early" || name == "waits_early") std::printf("printed before the job\n");
  if (name == "crashes_early") die_by(SIGSEGV);
  if (name == "waits_early") wait_until_asked_to_end();
  if (name == "has_closed") {
    const int code = nacre::run(argc, argv, prints_much);
    return code == 0 && !has_nothing_but_dev_null() ? 9 : code;
  }
  const auto match = programs.find(name);
  return match == programs.end() ? 0 : nacre::run(argc, argv, match->second);
}

std::vector<std::string> run_self(const std::string& ranks, const std::string& program) {
  return nacre_with({"run", "-n", ranks, own_path(), "--as-rank", program, "--nacre.workers=1"});
}

// ---- tests

TEST(output_of_ranks, comes_line_by_line_while_they_run) {
  launched job(run_self("2", "waits"));
  job.read_until("printed by rank 0\n");
  job.read_until("printed by rank 1\n");
  job.read_until("streamed by rank 0\n");
  job.signal(SIGTERM);
  EXPECT_EQ(job.end().errors, "");
}

TEST(output_of_ranks, comes_before_they_have_joined_the_job) {
  launched job(run_self("1", "waits_early"));
  job.read_until("printed before the job\n");
  job.signal(SIGTERM);
  EXPECT_EQ(job.end().errors, "");
}

TEST(output_of_ranks, is_passed_on_when_one_is_killed_or_throws) {
  for (const char* program : {"crashes", "crashes_early", "throws"}) {
    const outcome got = launched(run_self("2", program)).end();
    EXPECT_NE(code_of(got), 0) << program;
    const bool early = std::string_view(program) == "crashes_early";
    EXPECT_NE(got.output.find(early ? "printed before the job\n" : "the last words of rank 1"), std::string::npos)
        << program << ": " << got.output << got.errors;
  }
}

TEST(output_of_ranks, keeps_the_buffer_that_the_program_is_given) {
  if (std::system("stdbuf --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "stdbuf is not installed (coreutils)";
  const outcome got = nacre_command({"run", "-n", "1", "stdbuf", "-o100000", own_path(), "--as-rank", "crashes_early"});
  EXPECT_EQ(code_of(got), 128 + SIGSEGV) << got.errors;
  EXPECT_EQ(got.output, "");
}

TEST(output_of_ranks, comes_without_the_end_of_its_line_when_they_wait_for_an_answer) {
  const std::string answer = std::filesystem::path(testing::TempDir()) / ("nacre_answer_" + std::to_string(::getpid()));
  launched job(nacre_with({"run", "-n", "2", "sh", "-c",
                           "[ $NACRE_JOB_RANK = 0 ] || exit 0; printf 'number? '; printf 'why? ' >&2;"
                           "until [ -e \"$0\" ]; do sleep 0.02; done; echo got 42",
                           answer}));
  job.read_until("number? ");
  std::ofstream(answer) << "42\n";
  const outcome got = job.end();
  std::filesystem::remove(answer);
  EXPECT_EQ(code_of(got), 0);
  EXPECT_EQ(got.output, "number? got 42\n");
  EXPECT_EQ(got.errors, "why? ");
}

TEST(output_of_ranks, is_complete_though_its_reader_pauses_when_they_have_ended) {
  for (const std::string place : {"--ranks=1", "--hosts=localhost"}) {
    launched job(nacre_with({"run", place, "seq", "1", "400000"}));  // more than launcher and agent hold
    ::poll(nullptr, 0, 3000);                                        // as a pager does
    const outcome got = job.end();
    EXPECT_EQ(code_of(got), 0) << got.errors;
    EXPECT_EQ(got.errors, "");
    EXPECT_EQ(lines_of(got.output).size(), 400'000U) << place;
  }
}

/// Nobody reads the pipe that the shell holds.
TEST(output_of_ranks, costs_a_line_and_the_exit_code_if_a_signal_ends_the_wait_for_its_reader) {
  const std::string folder = testing::TempDir() + "nacre_reader." + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const outcome got =
      launched({"sh", "-c",
                "cd \"$0\"; mkfifo pipe; exec 3<>pipe; " NACRE_BIN_DIR
                "/nacre run -n 1 sh -c 'seq 1 100000; echo $$ >written; mv written process' >pipe & job=$!;"
                "until [ -e process ]; do sleep 0.02; done; while kill -0 $(cat process) 2>&-; do sleep 0.02; done;"
                "kill $job; wait $job",
                folder})
          .end();
  std::filesystem::remove_all(folder);
  EXPECT_EQ(code_of(got), 1);
  EXPECT_NE(got.errors.find(" bytes of output were not taken by their reader\n"), std::string::npos) << got.errors;
}

TEST(closed_output, of_nacre_run_costs_a_line_and_the_exit_code_and_ends_no_rank) {
  for (const std::string streams : {">&-", "<&- >&-"}) {
    const outcome got =
        launched({"sh", "-c", NACRE_BIN_DIR "/nacre run -n 2 sh -c 'echo one; sleep 0.3; echo two' " + streams}).end();
    EXPECT_EQ(code_of(got), 1) << streams;
    EXPECT_EQ(got.errors, "nacre: standard output cannot be written: Bad file descriptor\n") << streams;
  }
}

TEST(closed_output, by_the_limit_on_the_length_of_files_is_an_error_like_others) {
  const std::string file = testing::TempDir() + "nacre_length." + std::to_string(::getpid());
  const outcome got =
      launched({"sh", "-c", "ulimit -f 8; exec " NACRE_BIN_DIR "/nacre run -n 1 seq 1 100000 >\"$0\"", file}).end();
  EXPECT_EQ(code_of(got), 1) << got.status;
  EXPECT_EQ(got.errors, "nacre: standard output cannot be written: File too large\n");
  std::filesystem::remove(file);
}

/// Which a rank meets that writes to a file of its own.
TEST(closed_output, by_the_limit_on_the_length_of_files_is_the_signal_of_old_in_a_rank) {
  const std::string file = testing::TempDir() + "nacre_length." + std::to_string(::getpid());
  const outcome got = launched({"sh", "-c",
                                "ulimit -f 8; exec " NACRE_BIN_DIR "/nacre run -n 1 sh -c 'exec seq 1 100000 >\"$0\"' "
                                "\"$0\"",
                                file})
                          .end();
  EXPECT_EQ(code_of(got), 128 + SIGXFSZ) << got.errors;
  std::filesystem::remove(file);
}

TEST(closed_output, of_errors_ends_no_rank_either) {
  const outcome got =
      launched(
          {"sh", "-c", NACRE_BIN_DIR "/nacre run -n 1 sh -c 'echo one >&2; sleep 0.3; echo two >&2; echo well' 2>&-"})
          .end();
  EXPECT_EQ(code_of(got), 0);
  EXPECT_EQ(got.output, "well\n");
}

TEST(closed_output, is_fine_where_nothing_is_printed_and_closed_input_is_empty) {
  EXPECT_EQ(code_of(launched({"sh", "-c", NACRE_BIN_DIR "/nacre run -n 2 true >&-"}).end()), 0);
  const outcome got = launched({"sh", "-c", NACRE_BIN_DIR "/nacre run -n 2 cat <&-"}).end();
  EXPECT_EQ(code_of(got), 0);
  EXPECT_EQ(got.errors, "");
}

TEST(closed_output, of_nacre_itself_costs_a_line_and_the_exit_code) {
  for (const char* command : {"info", "--version", "run --help"}) {
    const outcome got = launched({"sh", "-c", NACRE_BIN_DIR "/nacre " + std::string(command) + " >&-"}).end();
    EXPECT_EQ(code_of(got), 1) << command;
    EXPECT_EQ(got.errors, "nacre: standard output cannot be written: Bad file descriptor\n") << command;
  }
}

TEST(closed_output, of_a_program_goes_to_none_of_its_sockets) {
  for (const std::string transport : {"inproc", "shm", "tcp", "udp", "sim"}) {
    for (const std::string streams : {"<&- >&- 2>&-", "<&- >&-", ">&-", "2>&-"}) {
      const outcome got = launched({"sh", "-c",
                                    own_path() + " --as-rank has_closed --nacre.ranks=2 --nacre.workers=1 " +
                                        "--nacre.transport=" + transport + " " + streams})
                              .end();
      EXPECT_EQ(code_of(got), streams == "<&- >&- 2>&-" ? 0 : 9) << transport << streams;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return run_as_rank(argv[2], argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
