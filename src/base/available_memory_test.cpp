// SPDX-License-Identifier: Apache-2.0
// The memory that a process can still get, read from files that stand for those of a machine.
#include "base/available_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace nacre {
namespace {

class available_memory_of : public testing::Test {
 protected:
  ~available_memory_of() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string root_ =
      (std::filesystem::temp_directory_path() / ("nacre_memory." + std::to_string(::getpid()))).string();
};

constexpr const char* meminfo =
    "MemTotal:       24689564 kB\nMemFree:        20000000 kB\nMemAvailable:   22000000 kB\nSwapTotal: 9 kB\n"
    "HugePages_Total:       0\nSwapFree:       1000 kB\n";

TEST_F(available_memory_of, a_machine_is_what_nobody_uses_and_the_free_swap_space) {
  write("/proc/meminfo", meminfo);
  EXPECT_EQ(available_memory(root_), std::uint64_t{22'001'000} * 1024);
}

TEST_F(available_memory_of, a_group_is_no_more_than_its_limit) {
  write("/proc/meminfo", meminfo);
  write("/proc/self/cgroup", "0::/job\n");
  write("/proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/job/memory.max", "1073741824\n");
  EXPECT_EQ(available_memory(root_), std::uint64_t{1} << 30);
}

TEST_F(available_memory_of, a_kernel_that_tells_nothing_is_not_known) {
  std::filesystem::create_directories(root_);
  EXPECT_EQ(available_memory(root_), std::nullopt);
}

TEST(available_memory, this_machine_has_some) { EXPECT_GT(available_memory().value_or(0), std::uint64_t{1} << 20); }

}  // namespace
}  // namespace nacre
