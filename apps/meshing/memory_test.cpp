// SPDX-License-Identifier: Apache-2.0
// What is free, by the files of a system; and what is refused.
#include "meshing/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <nacre/error.hpp>

namespace meshing {
namespace {

namespace files = std::filesystem;

/// A folder with files as the kernel shows them.
class fake_system {
 public:
  fake_system() : root_(files::temp_directory_path() / ("memory_" + std::to_string(getpid()))) {}
  ~fake_system() { files::remove_all(root_); }
  fake_system(const fake_system&) = delete;
  fake_system& operator=(const fake_system&) = delete;
  void write(const std::string& name, const std::string& text) const {
    files::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] double available() const { return available_bytes(root_.string()); }

 private:
  files::path root_;
};

TEST(Memory, is_what_the_system_and_all_control_groups_leave) {
  const fake_system system;
  EXPECT_TRUE(std::isinf(system.available()));
  system.write("proc/meminfo", "MemTotal:  2000 kB\nMemFree: 10 kB\nMemAvailable:    1000 kB\n");
  EXPECT_EQ(system.available(), 1'024'000);
  system.write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(system.available(), 1'024'000);
  system.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  system.write("sys/fs/cgroup/a/b/memory.current", "7\n");
  EXPECT_EQ(system.available(), 1'024'000);
  system.write("sys/fs/cgroup/a/memory.max", "500000\n");
  system.write("sys/fs/cgroup/a/memory.current", "400000\n");
  EXPECT_EQ(system.available(), 100'000);
  system.write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 50000\n");
  EXPECT_EQ(system.available(), 150'000);
  system.write("proc/self/cgroup", "9:cpu:/x\n4:memory:/c\n0::/\n");
  EXPECT_EQ(system.available(), 1'024'000);
  system.write("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "300000\n");
  system.write("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "310000\n");
  EXPECT_EQ(system.available(), 0);
}

TEST(Memory, of_this_system_is_known) {
  EXPECT_GT(available_bytes(), 1e6);
  EXPECT_LT(available_bytes(), 1e16);
}

TEST(Memory, that_is_too_small_is_refused_with_both_numbers) {
  memory_demand asked{.elements = 2e9,
                      .bytes_each = 48,
                      .memory_bytes = 96e9,
                      .place = "in.poly: ",
                      .name = "triangles",
                      .remedy = "allow larger triangles"};
  EXPECT_NO_THROW(demand_memory(asked));
  asked.memory_bytes = 95e9;
  try {
    demand_memory(asked);
    FAIL();
  } catch (const nacre::setup_error& error) {
    EXPECT_STREQ(error.what(),
                 "in.poly: about 2e+09 triangles are asked for (they take 96 GB, and 95 GB of memory are free): allow "
                 "larger triangles");
  }
}

}  // namespace
}  // namespace meshing
