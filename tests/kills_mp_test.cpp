// SPDX-License-Identifier: Apache-2.0
// Random ranks of a job are killed at random moments, again and again: it ends with the result of an undisturbed one,
// and leaves nothing behind. NACRE_KILLS says how many are killed, by default 3.
//
// The executable is its own rank program: `kills_mp_test --as-rank STEPS SECONDS`, a step of which takes so long.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

#include "launched.hpp"

namespace {

/// A row of a grid. Its neighbours tell it their edges in even steps, and it computes in odd ones.
struct row {
  std::vector<double> values = std::vector<double>(100, 1.0);
  double above = 0, below = 0;
  void hear(bool from_above, double edge) { (from_above ? above : below) = edge; }
  void step(nacre::context& ctx, nacre::array_ptr<row> all, int number) {
    const std::uint64_t local_count = ctx.index()[0], rows = all.shape().count();
    if (number % 2 != 0) {
      for (double& each : values) each = 0.25 * (above + below) + 0.5 * each + number * 1e-6;
      return;
    }
    if (local_count > 0)
      ctx.send<&row::hear>(all[local_count - 1], false, values.front() + static_cast<double>(local_count) * 1e-3);
    if (local_count + 1 < rows) ctx.send<&row::hear>(all[local_count + 1], true, values.back());
    if ((static_cast<std::uint64_t>(number) + local_count) % 7 == 0)
      static_cast<void>(ctx.migrate(ctx.self<row>(), nacre::rank_id((ctx.rank().value() + 1) % ctx.size())));
  }
  double sum() const {
    double all = above + below;
    for (const double each : values) all += each;
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values, above, below);
  }
};
struct tally {
  std::uint64_t steps = 0;
  void add(std::uint64_t count) { steps += count; }
  std::uint64_t result() const { return steps; }
  void merge(tally&& other) { steps += other.steps; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(steps);
  }
};
struct progress {
  nacre::array_ptr<row> grid;
  nacre::group_ptr<tally> tallies;
  nacre::counting_set_handle<std::string> words;
  int step = 0;
};

int compute(int argc, char** argv, int steps, double seconds) {
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    auto state = rt.restored<progress>().value_or(progress{});
    if (!state.grid) {
      state.grid = rt.create_array<row>(nacre::extents{24});
      state.tallies = rt.create_group<tally>();
    }
    nacre::counting_set<std::string> words(rt, state.words);
    state.words = words.handle();
    rt.steps(state, steps, [&](progress& now) {
      if (rt.rank().value() == 0) {
        words.insert("step " + std::to_string(now.step % 10));
        rt.send<&row::step>(now.grid, now.grid, now.step);
        rt.send<&tally::add>(now.tallies[nacre::rank_id(static_cast<std::uint32_t>(now.step) % rt.size())],
                             std::uint64_t{1});
      }
      if (seconds > 0) rt.sleep(seconds).wait();
    });
    const double sum = rt.reduce<&row::sum>(state.grid, std::plus<>{}).get();
    const std::uint64_t count = words.count_all();
    const std::uint64_t counted = rt.all_reduce(rt.call<&tally::result>(state.tallies[rt.rank()]).get(), std::plus<>{});
    if (rt.rank().value() == 0) {
      std::printf("sum %.17g of %llu words in %llu steps\n", sum, static_cast<unsigned long long>(count),
                  static_cast<unsigned long long>(counted));
    }
  });
}

}  // namespace

namespace nacre::tests {
namespace {

namespace fs = std::filesystem;

/// What is in the environment of a process; empty where it has ended.
std::string environment_of(const fs::path& process) {
  std::ifstream file(process / "environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The processes that have inherited this mark.
std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> values;
  for (const fs::directory_entry& each : fs::directory_iterator("/proc")) {
    const std::string name = each.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (environment_of(each.path()).find(mark) != std::string::npos) values.push_back(std::atoi(name.c_str()));
  }
  return values;
}

/// The process of a rank; none while it is not there.
std::optional<pid_t> rank_with(const std::string& mark, std::uint32_t rank) {
  const std::string number = "NACRE_JOB_RANK=" + std::to_string(rank);
  for (const pid_t each : processes_with(mark)) {
    const std::string variables = environment_of("/proc/" + std::to_string(each));
    const std::size_t place = variables.find(number);
    if (place != std::string::npos && variables[place + number.size()] == '\0') return each;
  }
  return std::nullopt;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code fault;
  for (fs::directory_iterator each(folder, fault), end; !fault && each != end; each.increment(fault))
    names.insert(each->path().filename().string());
  return names;
}

std::uint32_t kills_wanted() {
  const char* const text = std::getenv("NACRE_KILLS");
  return text == nullptr ? 3 : static_cast<std::uint32_t>(std::atoi(text));
}

struct kills : testing::TestWithParam<const char*> {
  void SetUp() override { fs::create_directories(scratch); }
  void TearDown() override {
    ::unsetenv("KILLS_MARK");
    fs::remove_all(folder);
  }
  [[nodiscard]] std::vector<std::string> job(const std::vector<std::string>& options,
                                             const std::string& seconds) const {
    std::vector<std::string> command{"/usr/bin/env", "TMPDIR=" + scratch, NACRE_BIN_DIR "/nacre", "run", "-n", "4",
                                     "--transport",  GetParam()};
    command.insert(command.end(), options.begin(), options.end());
    for (const std::string& each :
         {own_path(), std::string("--as-rank"), std::string(steps), seconds, std::string("--nacre.workers=2")})
      command.push_back(each);
    return command;
  }
  /// Kills a random rank, at a random moment behind the next image. Returns false when the job has ended.
  bool kill_one(launched& running, std::mt19937_64& draw) const {
    const std::set<std::string> words = all_images();
    stopwatch taken;
    while (all_images() == words && !running.is_over() && taken.look() < patience_seconds) running.listen();
    const double pause = std::uniform_real_distribution<>(0, 0.3)(draw);
    for (stopwatch paused; paused.look() < pause;) running.listen();
    const auto rank = static_cast<std::uint32_t>(draw() % 4);
    std::optional<pid_t> victim = rank_with(mark, rank);
    while (!victim && !running.is_over()) {  // between two lives
      running.listen();
      victim = rank_with(mark, rank);
    }
    if (!victim || running.is_over()) return false;
    ::kill(*victim, SIGKILL);
    return true;
  }
  /// Those that are whole.
  [[nodiscard]] std::set<std::string> all_images() const {
    std::set<std::string> words;
    for (const std::string& life : names_in(images)) {
      for (const std::string& image : names_in(images + "/" + life)) {
        if (fs::exists(images + "/" + life + "/" + image + "/manifest.json")) words.insert(life + image);
      }
    }
    return words;
  }

  static constexpr const char* steps = "400";
  std::string folder = testing::TempDir() + "nacre_kills_mp." + std::to_string(::getpid());
  std::string images = folder + "/images", scratch = folder + "/scratch";
  std::string mark = "KILLS_MARK=" + std::to_string(::getpid()) + ".";
};

TEST_P(kills, of_random_ranks_change_nothing_and_leave_nothing) {
  const outcome whole = launched(job({}, "0")).end();
  ASSERT_EQ(code_of(whole), 0) << whole.errors;
  const std::set<std::string> segments = names_in("/dev/shm");
  ::setenv("KILLS_MARK", (std::to_string(::getpid()) + ".").c_str(), 1);
  const std::uint32_t wanted = kills_wanted();
  const double pause = 0.01 + 0.002 * wanted;  // of a step, so that the job lasts until the last kill
  std::vector<std::string> command = job({"--survive", "restart", "--restarts", "100"}, std::to_string(pause));
  command.push_back("--nacre.checkpoint.folder=" + images);
  command.emplace_back("--nacre.checkpoint.every=100ms");
  launched running(command);
  std::mt19937_64 draw(std::random_device{}());
  const auto begin = std::chrono::steady_clock::now();
  std::uint32_t killed = 0;
  while (killed < wanted && kill_one(running, draw)) ++killed;
  const outcome got = running.end(seconds(300));
  const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(killed, wanted) << "the job has ended before: " << got.errors;
  EXPECT_EQ(code_of(got), 0) << got.status << got.errors;
  EXPECT_EQ(got.output, whole.output) << got.errors;
  std::size_t starts = 0;
  for (const std::string& line : lines_of(got.errors)) starts += line.starts_with("nacre run: start ") ? 1 : 0;
  EXPECT_EQ(starts, killed) << got.errors;
  for (const pid_t each : processes_with(mark)) EXPECT_TRUE(vanishes(each)) << each;
  for (const std::string& each : names_in("/dev/shm")) {
    if (each.starts_with("nacre_ucx_")) continue;  // of another job: none of these transports makes one
    // Those of other jobs on this machine go in their time.
    for (stopwatch waited; !segments.contains(each) && fs::exists("/dev/shm/" + each);) {
      ASSERT_LT(waited.look(), unhurried_end) << each;
      ::poll(nullptr, 0, 20);
    }
  }
  EXPECT_EQ(names_in(scratch), std::set<std::string>{});
  EXPECT_LE(all_images().size(), 2U);
  std::printf("%s: %u kills, %.1f s; its pauses alone are %.1f s, all else %.1f s undisturbed\n", GetParam(), killed,
              taken, pause * std::atoi(steps), whole.wall_seconds);
}

INSTANTIATE_TEST_SUITE_P(over, kills, testing::Values("shm", "tcp"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--as-rank") == 0)
    return compute(argc, argv, std::atoi(argv[2]), std::atof(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
