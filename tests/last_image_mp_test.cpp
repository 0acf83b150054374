// SPDX-License-Identifier: Apache-2.0
// A signal asks a job for a last image, behind which it ends; started again it gives the result of an undisturbed one.
//
// The executable is its own rank program: `last_image_mp_test --as-rank WAY STEPS SECONDS`; the seconds are of a step.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <nacre/nacre.hpp>

#include "last_image.hpp"

namespace {

constexpr int steps_before_word = 3;  // so many steps, then the rank tells that it is at work

/// The file that kills the process which packs a cell, once it is there.
const char* deadly_file() { return std::getenv("DEADLY_FILE"); }

struct cell {
  double value = 1;
  void step(int number) { value = value * 1.001 + number * 1e-4; }
  double read() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    if (deadly_file() != nullptr && ::access(deadly_file(), F_OK) == 0) std::raise(SIGKILL);
    ar(value);
  }
};
struct progress {
  nacre::array_ptr<cell> grid;
  int step = 0;
};

void compute_for_ever() {
  for (std::atomic<unsigned> count = 0;; ++count) continue;
}

/// Main does its steps; some ways are other.
void work(nacre::runtime& rt, std::string_view way, int steps, double seconds) {
  if (way == "handles") rt.handle_signals();
  auto state = rt.restored<progress>().value_or(progress{});
  const int begun = state.step;
  if (!state.grid) state.grid = rt.create_array<cell>(nacre::extents{30});
  rt.steps(state, steps, [&](progress& now) {
    if (now.step == begun + steps_before_word) {
      std::printf("rank %u is process %d, at work\n", rt.rank().value(), ::getpid());
      if (way == "computes" && rt.rank().value() == 1) compute_for_ever();
    }
    if (way == "handles" && rt.all_reduce(rt.stop_requested() ? 1 : 0, std::plus<>{}) != 0) now.step = steps;
    if (rt.rank().value() == 0 && now.step < steps) rt.send<&cell::step>(now.grid, now.step);
    if (seconds > 0) rt.sleep(seconds).wait();
  });
  if (way == "handles") std::printf("rank %u ends its own way\n", rt.rank().value());
  const double sum = rt.reduce<&cell::read>(state.grid, std::plus<>{}).get();
  if (rt.rank().value() == 0) std::printf("sum %.15g\n", sum);
}

int be_rank(int argc, char** argv) {
  const std::string_view way = argv[2];
  const int steps = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    if (way != "swallows") return work(rt, way, steps, seconds);
    try {
      work(rt, way, steps, seconds);
    } catch (...) {
      std::printf("something is caught\n");
    }
  });
  return way == "swallows" ? 0 : code;
}

}  // namespace

namespace nacre::tests {
namespace {

struct last_image_over : last_image, testing::WithParamInterface<const char*> {};

TEST_P(last_image_over, is_durable_before_the_job_ends_with_75) {
  launched running(job(GetParam(), "steps", unhurried));
  running.read_until("at work");
  running.signal(SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 75) << got.status << got.errors;
  EXPECT_EQ(got.output.find("sum"), std::string::npos) << got.output;
  expect_error(got, "Terminated: an image is awaited for at most 60 s");
  expect_error(got, "the job ends behind its last image, with code 75");
  EXPECT_EQ(lines_of(got.errors).size(), 2U) << got.errors;
  expect_result_after(GetParam());
}

TEST_P(last_image_over, is_not_awaited_longer_than_its_grace) {
  for (const bool has_older : {false, true}) {
    words more{"--nacre.checkpoint.grace=300ms"};
    if (has_older) more.emplace_back("--nacre.checkpoint.every=1ns");
    launched running(job(GetParam(), "computes", unhurried, more));
    running.read_until("rank 1 is process");
    running.signal(SIGTERM);
    const outcome got = running.end();
    EXPECT_EQ(code_of(got), has_older ? 75 : 128 + SIGTERM) << got.status << got.errors;
    expect_error(got, "no image came within 0.3 s");
    EXPECT_EQ(got.errors.find("was killed by"), std::string::npos) << got.errors;
  }
  expect_result_after(GetParam());
}

TEST_P(last_image_over, is_given_up_by_a_second_signal) {
  launched running(job(GetParam(), "computes", unhurried));
  running.read_until("rank 1 is process");
  running.signal_until_over(SIGTERM);
  const outcome got = running.end();
  const bool alone = std::string_view(GetParam()) == "inproc";  // the system ends it
  EXPECT_TRUE(alone ? WIFSIGNALED(got.status) && WTERMSIG(got.status) == SIGTERM : code_of(got) == 128 + SIGTERM)
      << got.status << got.errors;
  if (!alone) expect_error(got, "a second signal came before the image");
}

TEST_P(last_image_over, is_left_to_a_program_that_handles_the_signal) {
  launched running(job(GetParam(), "handles", unhurried));
  running.read_until("at work");
  running.signal(SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 0) << got.status << got.errors;
  for (const char* each : {"rank 0 ends its own way", "rank 2 ends its own way", "sum"})
    EXPECT_NE(got.output.find(each), std::string::npos) << got.output << got.errors;
  expect_error(got, "the program has been asked to stop");
}

TEST_P(last_image_over, shows_in_the_code_of_a_program_that_looks_away) {
  launched running(job(GetParam(), "swallows", unhurried));
  running.read_until("at work");
  running.signal(SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 75) << got.status << got.errors;
  EXPECT_NE(got.output.find("something is caught"), std::string::npos) << got.output;
  expect_result_after(GetParam());
}

INSTANTIATE_TEST_SUITE_P(over, last_image_over, testing::Values("shm", "tcp", "udp", "inproc"),
                         [](const auto& given) { return std::string(given.param); });

TEST_F(last_image, of_a_rank_that_dies_in_it_leaves_the_one_before) {
  const std::string deadly = folder + "/deadly";
  ::setenv("DEADLY_FILE", deadly.c_str(), 1);
  for (const char* mode : {"", "restart"}) {
    std::filesystem::remove_all(images);
    launched running(job("shm", "steps", unhurried, {"--nacre.checkpoint.every=100ms"},
                         *mode != '\0' ? words{"--survive", mode} : words{}));
    running.read_until("at work");
    while (!std::filesystem::exists(images + "/life-000001/image-000001/manifest.json")) ::poll(nullptr, 0, 10);
    running.signal(SIGTERM);
    std::ofstream{deadly};
    const outcome got = running.end();
    std::filesystem::remove(deadly);
    EXPECT_EQ(code_of(got), 75) << got.status << got.errors;
    EXPECT_EQ(got.errors.find("start 2"), std::string::npos) << got.errors;
  }
  ::unsetenv("DEADLY_FILE");
  expect_result_after("shm");
}

TEST_F(last_image, is_asked_for_by_a_signal_to_any_rank_of_mpirun) { ends_by_signal_under_mpirun(*this, "steps"); }

TEST_F(last_image, is_the_launchers_business_so_a_signal_to_a_rank_does_nothing) {
  launched running(job("shm", "steps", "0.01"));
  const pid_t rank = rank_one_of(running);
  ASSERT_GT(rank, 1);
  for (int time = 0; time < 3; ++time) ::kill(rank, SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 0) << got.status << got.errors;
  EXPECT_NE(got.output.find("sum"), std::string::npos) << got.output;
  EXPECT_EQ(got.errors, "");
}

TEST_F(last_image, is_tried_again_when_it_fails_until_its_grace_is_over) {
  images = "/dev/null/images";
  launched running(job("shm", "steps", unhurried, {"--nacre.checkpoint.grace=2500ms"}));
  running.read_until("at work");
  running.signal(SIGTERM);
  const outcome got = running.end();
  EXPECT_EQ(code_of(got), 128 + SIGTERM) << got.status << got.errors;
  std::size_t failures = 0;
  for (const std::string& line : lines_of(got.errors)) failures += line.find("/dev/null/images") != std::string::npos;
  EXPECT_GE(failures, 2U) << got.errors;
  EXPECT_LE(failures, 4U) << "not at each step: " << got.errors;
}

TEST_F(last_image, may_be_asked_for_by_another_signal_or_by_none) {
  launched other(job("shm", "steps", unhurried, {"--nacre.checkpoint.signal=USR1"}));
  other.read_until("at work");
  other.signal(SIGUSR1);
  const outcome asked = other.end();
  EXPECT_EQ(code_of(asked), 75) << asked.status << asked.errors;
  launched plain(job("shm", "steps", unhurried, {"--nacre.checkpoint.signal=none"}));
  plain.read_until("at work");
  plain.signal(SIGTERM);
  EXPECT_EQ(code_of(plain.end()), 128 + SIGTERM);
}

/// examples/slurm_restart.sh, beside a Slurm of this machine alone: its job is signalled, requeued, and done, though no
/// option behind the -- of the program would be Nacre's.
TEST_F(last_image, of_a_job_of_slurm_is_gone_on_from_when_it_is_requeued) {
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const std::string script = "export PATH=" NACRE_BIN_DIR ":$PATH; cd " + folder +
                             R"sh(
until_it() { tries=3000; until eval "$1"; do sleep 0.1; tries=$((tries - 1)); [ $tries -gt 0 ] || exit 9; done; }
state() { scontrol show job $id | tr ' ' '\n' | sed -n "s/^$1=//p"; }
id=$(sbatch --parsable -o said )sh" NACRE_SOURCE_DIR "/examples/slurm_restart.sh " +
                             own_path() + R"sh( --as-rank steps 80 0.05 --)
until_it 'grep -qs "at work" said'
scancel --batch --signal=TERM $id
until_it '[ "$(state JobState)" = PENDING ]'
scontrol update JobId=$id StartTime=now
until_it '[ "$(state JobState)" = COMPLETED ]'
echo "restarts $(state Restarts) code $(state ExitCode)"
cat said
)sh";
  const outcome got = launched({NACRE_SOURCE_DIR "/tools/slurm_here.sh", "sh", "-c", script}).end();
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  const outcome whole = launched({own_path(), "--as-rank", "steps", "80", "0", "--nacre.ranks=2"}).end();
  EXPECT_EQ(code_of(got), 0) << got.errors << got.output;
  EXPECT_NE(got.output.find("restarts 1 code 0:0"), std::string::npos) << got.output << got.errors;
  EXPECT_NE(got.output.find("with code 75"), std::string::npos) << got.output;
  ASSERT_NE(whole.output.find("sum"), std::string::npos) << whole.errors;
  EXPECT_NE(got.output.find(whole.output.substr(whole.output.find("sum"))), std::string::npos) << got.output;
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 4 && std::strcmp(argv[1], "--as-rank") == 0) return be_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
