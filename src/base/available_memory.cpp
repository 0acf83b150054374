// SPDX-License-Identifier: Apache-2.0
// Reads /proc/meminfo, and the limits of control groups.
#include "base/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/cgroup_limits.hpp"

namespace nacre {

std::optional<std::uint64_t> available_memory(const std::string& root) {
  constexpr std::uint64_t kib = 1024;
  std::optional<std::uint64_t> memory;
  std::uint64_t swap = 0;
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  std::uint64_t count = 0;
  while (file >> name >> count) {
    if (name == "MemAvailable:") memory = count * kib;
    if (name == "SwapFree:") swap = count * kib;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (memory) *memory += swap;
  const std::optional<std::uint64_t> limit = limits_of_this_process(root).memory_bytes;
  if (!memory || !limit) return memory ? memory : limit;
  return std::min(*memory, *limit);
}

}  // namespace nacre
