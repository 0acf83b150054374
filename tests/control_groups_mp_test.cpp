// SPDX-License-Identifier: Apache-2.0
// Ranks in real control groups, as containers and batch systems make them: how many workers they have, and what memory.
//
// The executable is its own rank program: `control_groups_mp_test --as-rank` prints what a rank has.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "launched.hpp"
#include "runtime/options.hpp"

namespace {

using namespace nacre::tests;

int act_as_rank(int argc, char** argv) {
  const char* const memory = std::getenv("NACRE_JOB_RECEIVE_MEMORY");
  const std::string given = memory == nullptr ? "-" : memory;
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    std::printf("rank %u: %u workers, %s bytes\n", rt.rank().value(), rt.workers(), given.c_str());
    rt.barrier();
  });
}

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// A control group with one bound, made where this system lets the test make one; it ends with this object.
class control_group {
 public:
  struct place {
    std::string folder;  ///< a group that may get another one
    std::string file;    ///< of the bound
    std::string text;
  };
  explicit control_group(const std::vector<place>& places) {
    for (const place& each : places) {
      folder_ = each.folder + "/nacre_test." + std::to_string(::getpid());
      if (::mkdir(folder_.c_str(), 0755) != 0) continue;
      std::ofstream bound(folder_ + "/" + each.file);
      if (bound && bound << each.text << std::flush) return;
      ::rmdir(folder_.c_str());
    }
    folder_.clear();
  }
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;
  ~control_group() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }

  [[nodiscard]] bool is_made() const noexcept { return !folder_.empty(); }
  /// Runs the command in the group; the output.
  [[nodiscard]] std::string run(std::vector<std::string> command) const {
    std::vector<std::string> all{"sh", "-c", "echo $$ >" + folder_ + "/cgroup.procs && exec \"$@\"", "sh"};
    all.insert(all.end(), command.begin(), command.end());
    const outcome got = launched(std::move(all)).end();
    EXPECT_EQ(code_of(got), 0) << got.errors;
    return got.output;
  }

 private:
  std::string folder_;
};

const std::string command_path = std::string(NACRE_BIN_DIR) + "/nacre";

TEST(control_groups, bound_the_workers_of_a_rank) {
  if (nacre::usable_cores() < 2) GTEST_SKIP() << "this process has one processor";
  const control_group one({{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "150000"},
                           {"/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "150000"},
                           {"/sys/fs/cgroup", "cpu.max", "150000 100000"}});
  if (!one.is_made()) GTEST_SKIP() << "no control group of processors can be made here";
  EXPECT_TRUE(one.run({own_path(), "--as-rank"}).starts_with("rank 0: 1 workers"));
  EXPECT_TRUE(one.run({own_path(), "--as-rank", "--nacre.workers=2"}).starts_with("rank 0: 2 workers"));
  EXPECT_NE(one.run({command_path, "info"}).find("limits     1.5 processors"), std::string::npos);
}

TEST(control_groups, bound_the_memory_that_ranks_agree_on) {
  const std::string bytes = std::to_string(std::uint64_t{1} << 30);
  const control_group one(
      {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", bytes}, {"/sys/fs/cgroup", "memory.max", bytes}});
  if (!one.is_made()) GTEST_SKIP() << "no control group of memory can be made here";
  const std::string share = ", " + std::to_string((std::uint64_t{1} << 30) / 8 / 2) + " bytes";
  for (const char* transport : {"shm", "tcp"}) {
    const auto all = lines_of(one.run(
        {command_path, "run", "-n", "2", "--transport", transport, own_path(), "--as-rank", "--nacre.workers=1"}));
    EXPECT_EQ((std::set<std::string>(all.begin(), all.end())),
              (std::set<std::string>{"rank 0: 1 workers" + share, "rank 1: 1 workers" + share}));
  }
  EXPECT_NE(one.run({command_path, "info"}).find("1 GiB of memory by control groups"), std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--as-rank") return act_as_rank(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
