// SPDX-License-Identifier: Apache-2.0
// The processors and the memory that the control groups of this process leave to it, in containers and batch systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nacre {

/// The bounds of a process; nothing where there is none.
struct cgroup_limits {
  std::optional<double> processors;           ///< time of processors in a second of the clock, such as 2.5
  std::optional<std::uint64_t> memory_bytes;  ///< the kernel ends a process beyond it
};

/// Reads cpu.max and memory.max of cgroup v2, and cpu.cfs_quota_us and memory.limit_in_bytes of v1, of the process's
/// group and of all groups around it that are mounted; the smallest holds. Files that are missing, or that hold
/// anything else, bound nothing. `root` stands in front of /proc and of all folders; tests have a folder of their own.
[[nodiscard]] cgroup_limits limits_of_this_process(const std::string& root = {});

}  // namespace nacre
