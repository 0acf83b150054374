// SPDX-License-Identifier: Apache-2.0
// Reads /proc/meminfo and the files of control groups (versions 1 and 2).
#include "meshing/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include <nacre/error.hpp>

namespace meshing {
namespace {

namespace files = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The number behind a word that begins a line.
std::optional<double> number_behind(const files::path& file, const std::string& name) {
  std::ifstream input(file);
  std::string line;
  while (std::getline(input, line)) {
    std::istringstream words(line);
    std::string first;
    double value = 0;
    if (words >> first && first == name && words >> value) return value;
  }
  return std::nullopt;
}

/// The number in a file; nothing for a file that is missing, or the word `max`.
std::optional<double> number_in(const files::path& file) {
  std::ifstream input(file);
  double value = 0;
  if (input >> value) return value;
  return std::nullopt;
}

/// How a version of control groups names what is limited, what is in use, and cached files among it that can go.
struct group_files {
  const char *limit, *used, *cached;
};
constexpr group_files version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
    version_2{"memory.max", "memory.current", "inactive_file"};

/// What the limits of a group, and of those above it up to `top`, leave.
double left_by_groups(const files::path& top, const std::string& group, const group_files& names) {
  double least = unlimited;
  files::path folder = (top / files::path(group).relative_path()).lexically_normal();
  for (;;) {
    const std::optional<double> limit = number_in(folder / names.limit), used = number_in(folder / names.used);
    if (limit && used) {
      const double cached = number_behind(folder / "memory.stat", names.cached).value_or(0);
      least = std::min(least, std::max(0.0, *limit - std::max(0.0, *used - cached)));
    }
    if (folder == top || !folder.has_relative_path()) return least;
    folder = folder.parent_path();
  }
}

}  // namespace

double available_bytes(const std::string& root) {
  const files::path base(root);
  double least = unlimited;
  if (const auto kilobytes = number_behind(base / "proc/meminfo", "MemAvailable:")) least = *kilobytes * 1024;
  std::ifstream groups(base / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "4:memory:/a/group", or "0::/a/group" of version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, left_by_groups(base / "sys/fs/cgroup", group, version_2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, left_by_groups(base / "sys/fs/cgroup/memory", group, version_1));
    }
  }
  return least;
}

double memory_of_job(nacre::runtime& rt, bool is_simulated) {
  const double local_value = available_bytes();
  if (is_simulated) return local_value;
  std::string host;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), host);
  const auto hosts = rt.gather(host, nacre::rank_id{0});
  const auto memories = rt.gather(local_value, nacre::rank_id{0});
  std::map<std::string, double> by_host;
  for (std::size_t k = 0; k < hosts.size(); ++k) {
    const auto known = by_host.try_emplace(hosts[k], memories[k]).first;
    known->second = std::max(known->second, memories[k]);  // ranks may be in groups of their own
  }
  double sum = 0;
  for (const auto& [name, bytes] : by_host) sum += bytes;
  return sum;
}

void demand_memory(const memory_demand& demand) {
  const double wanted = demand.elements * demand.bytes_each;
  if (!(wanted > demand.memory_bytes)) return;
  throw nacre::setup_error(
      {fmt::format("{}about {:.3g} {} are asked for", demand.place, demand.elements, demand.name),
       fmt::format("they take {:.3g} GB, and {:.3g} GB of memory are free", wanted / 1e9, demand.memory_bytes / 1e9),
       demand.remedy});
}

}  // namespace meshing
