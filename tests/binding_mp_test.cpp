// SPDX-License-Identifier: Apache-2.0
// Ranks that nacre run has started share the cores of their host, inside what the job may use at all.
//
// The executable is its own rank program: `binding_mp_test --as-rank` prints where each rank's threads may run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "exec/placement.hpp"
#include "exec/thread_binding.hpp"
#include "launched.hpp"

namespace {

using namespace nacre::tests;

std::string processors_of_worker() { return nacre::text_of(nacre::processors_of_this_thread()); }

/// Each rank prints a line: main's processors, and those of the worker that runs a handler.
int act_as_rank(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const std::string main = nacre::text_of(nacre::processors_of_this_thread());
    std::printf("rank %u: %s %s\n", rt.rank().value(), main.c_str(),
                rt.call<processors_of_worker>(rt.rank()).get().c_str());
    rt.barrier();
  });
}

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

outcome run_ranks(const std::string& ranks, const std::vector<std::string>& options) {
  std::vector<std::string> command{"run", "-n", ranks, own_path(), "--as-rank", "--nacre.progress=shared"};
  command.insert(command.end(), options.begin(), options.end());
  return nacre_command(command);
}

class two_processors : public testing::Test {
 protected:
  void SetUp() override {
    all_ = nacre::processors_of_this_thread();
    if (all_.size() < 2) GTEST_SKIP() << "this machine has one processor";
    two_ = {all_[0], all_[1]};
  }
  /// The lines of a job that may use two processors of this host.
  std::set<std::string> lines(const std::string& ranks, const std::vector<std::string>& options) const {
    const nacre::bound_scope restricted(two_);
    const outcome got = run_ranks(ranks, options);
    EXPECT_EQ(code_of(got), 0) << got.errors;
    const auto all = lines_of(got.output);
    return {all.begin(), all.end()};
  }
  [[nodiscard]] std::string first() const { return std::to_string(two_[0]); }
  [[nodiscard]] std::string second() const { return std::to_string(two_[1]); }
  [[nodiscard]] std::string both() const { return nacre::text_of(two_); }
  [[nodiscard]] static std::string line(const std::string& rank, const std::string& main, const std::string& worker) {
    return "rank " + rank + ": " + main + " " + worker;
  }

  nacre::processor_list all_, two_;
};

TEST_F(two_processors, are_shared_out_to_two_ranks_of_one_worker) {
  const std::set<std::string> expected{line("0", first(), first()), line("1", second(), second())};
  EXPECT_EQ(lines("2", {"--nacre.workers=1"}), expected);
  EXPECT_EQ(lines("2", {"--nacre.workers=1", "--nacre.transport=tcp"}), expected);
  EXPECT_EQ(lines("2", {}), expected) << "a worker each is the default";
}

TEST_F(two_processors, are_left_to_all_where_threads_are_more_or_nobody_is_to_be_bound) {
  const std::set<std::string> expected{line("0", both(), both()), line("1", both(), both())};
  EXPECT_EQ(lines("2", {"--nacre.workers=2"}), expected);
  EXPECT_EQ(lines("2", {"--nacre.workers=1", "--nacre.bind=none"}), expected);
  EXPECT_EQ(lines("1", {"--nacre.workers=1"}), (std::set<std::string>{line("0", both(), both())}));
}

TEST_F(two_processors, serve_ranks_of_one_process_where_cores_are_asked_for) {
  const nacre::bound_scope restricted(two_);
  const outcome got =
      launched({own_path(), "--as-rank", "--nacre.ranks=2", "--nacre.workers=1", "--nacre.bind=core"}).end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  const auto all = lines_of(got.output);
  EXPECT_EQ((std::set<std::string>(all.begin(), all.end())),
            (std::set<std::string>{line("0", first(), first()), line("1", second(), second())}));
}

TEST_F(two_processors, are_told_in_the_summary_and_by_info) {
  const nacre::bound_scope restricted(two_);
  const outcome got = run_ranks("2", {"--nacre.workers=1", "--nacre.summary"});
  EXPECT_NE(got.errors.find("bound to processors: rank 0 on " + first() + "; rank 1 on " + second()), std::string::npos)
      << got.errors;
  const outcome info = nacre_command({"info"});
  EXPECT_NE(info.output.find("processors " + both()), std::string::npos) << info.output;
}

TEST(binding, of_more_threads_than_processors_to_cores_is_an_error_that_says_what_to_try) {
  const outcome got = run_ranks("2", {"--nacre.workers=5000", "--nacre.bind=core"});
  EXPECT_NE(code_of(got), 0);
  EXPECT_NE(got.errors.find("10000 threads of 2 ranks on this host cannot have a core each"), std::string::npos)
      << got.errors;
  EXPECT_NE(got.errors.find("--nacre.bind=numa"), std::string::npos) << got.errors;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
