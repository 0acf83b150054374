// SPDX-License-Identifier: Apache-2.0
// Bounds of control groups, read from folders that stand for those of a host or a container.
#include "base/cgroup_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace nacre {
namespace {

constexpr const char* v2_mount = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

class cgroup_limits_of : public testing::Test {
 protected:
  cgroup_limits_of() { std::filesystem::create_directories(root_); }
  ~cgroup_limits_of() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void process(const std::string& groups, const std::string& mounts) {
    write("/proc/self/cgroup", groups);
    write("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts);
  }
  [[nodiscard]] cgroup_limits read() const { return limits_of_this_process(root_); }

  std::string root_ =
      (std::filesystem::temp_directory_path() / ("nacre_cgroups." + std::to_string(::getpid()))).string();
};

TEST_F(cgroup_limits_of, version_2_are_read) {
  process("0::/job.slice/step\n", v2_mount);
  write("/sys/fs/cgroup/job.slice/step/cpu.max", "250000 100000\n");
  write("/sys/fs/cgroup/job.slice/step/memory.max", "1073741824\n");
  EXPECT_EQ(read().processors, 2.5);
  EXPECT_EQ(read().memory_bytes, std::uint64_t{1} << 30);
}

TEST_F(cgroup_limits_of, groups_around_the_process_hold_too_and_the_smallest_counts) {
  process("0::/job.slice/step/task\n", v2_mount);
  write("/sys/fs/cgroup/job.slice/step/task/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/job.slice/step/task/memory.max", "3000\n");
  write("/sys/fs/cgroup/job.slice/step/memory.max", "2000\n");
  write("/sys/fs/cgroup/job.slice/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/job.slice/memory.max", "max\n");
  EXPECT_EQ(read().processors, 4);
  EXPECT_EQ(read().memory_bytes, 2000U);
}

TEST_F(cgroup_limits_of, version_1_are_read) {
  process("5:cpuset:/\n4:memory:/docker/ab\n2:cpu,cpuacct:/docker/ab\n1:name=systemd:/x\n0::/\n", v1_mounts);
  write("/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us", "50000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(read().processors, 3);
  EXPECT_EQ(read().memory_bytes, std::uint64_t{512} << 20);
}

TEST_F(cgroup_limits_of, a_container_that_sees_only_its_own_group_is_bounded) {
  // The names of the groups are those of the host; in the container the process's own group is mounted.
  process("4:memory:/docker/ab\n0::/../../other\n",
          "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
          "36 31 0:33 / /sys/fs/cgroup\\040unified ro - cgroup2 cgroup rw\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  write("/sys/fs/cgroup unified/cpu.max", "100000 100000\n");
  EXPECT_EQ(read().memory_bytes, 4096U);
  EXPECT_EQ(read().processors, 1);
}

TEST_F(cgroup_limits_of, files_without_a_limit_or_with_nonsense_bound_nothing) {
  process("0::/a\nnonsense\n7:memory\n", std::string(v2_mount) + "too short\n");
  for (const char* text : {"", "max 100000\n", "100000\n", "-5 100000\n", "0 100000\n", "100000 0\n", "1e5 100000\n"}) {
    write("/sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(read().processors, std::nullopt) << text;
  }
  for (const char* text : {"", "max\n", "-1\n", "12kB\n", "99999999999999999999999\n"}) {
    write("/sys/fs/cgroup/a/memory.max", text);
    EXPECT_EQ(read().memory_bytes, std::nullopt) << text;
  }
}

TEST_F(cgroup_limits_of, a_host_without_groups_is_not_bounded) {
  EXPECT_EQ(read().processors, std::nullopt);
  EXPECT_EQ(read().memory_bytes, std::nullopt);
}

}  // namespace
}  // namespace nacre
