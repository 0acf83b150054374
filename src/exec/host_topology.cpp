// SPDX-License-Identifier: Apache-2.0
// The cores of this host, from hwloc.
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "exec/hwloc_topology.hpp"
#include "exec/placement.hpp"
#include "exec/thread_binding.hpp"

namespace nacre {
namespace {

/// The memory next to a core: the first of several kinds.
std::uint32_t domain_of(hwloc_obj_t core, std::map<unsigned, std::uint32_t>& known) {
  const int node = core->nodeset == nullptr ? -1 : hwloc_bitmap_first(core->nodeset);
  const auto next = static_cast<std::uint32_t>(known.size());
  return known.try_emplace(static_cast<unsigned>(node), next).first->second;
}

/// `allowed`: the processors to keep; empty: all. Processors without a core of their own are cores.
host_cores cores_of(hwloc_topology_t topology, const processor_list& allowed) {
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  host_cores match;
  std::map<unsigned, std::uint32_t> domains;
  for (hwloc_obj_t each = nullptr;
       (each = hwloc_get_next_obj_by_type(topology, has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, each)) != nullptr;) {
    host_core core;
    for (int processor = hwloc_bitmap_first(each->cpuset); processor >= 0;
         processor = hwloc_bitmap_next(each->cpuset, processor)) {
      const auto number = static_cast<std::uint32_t>(processor);
      if (allowed.empty() || std::binary_search(allowed.begin(), allowed.end(), number))
        core.processors.push_back(number);
    }
    if (core.processors.empty()) continue;
    core.domain = domain_of(each, domains);
    match.push_back(std::move(core));
  }
  return match;
}

}  // namespace

bool host_describes_its_processors() {
  if (std::getenv("HWLOC_FSROOT") != nullptr) return true;  // hwloc reads another folder than /sys
  static constexpr std::array folders{"/sys/bus/cpu/devices/", "/sys/devices/system/cpu/"};
  static constexpr std::array files{"package_cpus", "core_cpus", "core_siblings", "thread_siblings"};
  return std::any_of(folders.begin(), folders.end(), [](const char* folder) {
    return std::any_of(files.begin(), files.end(), [folder](const char* file) {
      return ::access((std::string(folder) + "cpu0/topology/" + file).c_str(), R_OK) == 0;
    });
  });
}

topology_ptr topology_of_this_host() {
  topology_ptr result = new_topology();
  if (result == nullptr) return nullptr;
  if (!host_describes_its_processors())
    hwloc_topology_set_components(result.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
  return hwloc_topology_load(result.get()) == 0 ? std::move(result) : nullptr;
}

host_cores cores_of_this_host() {
  const processor_list allowed = processors_of_this_thread();
  const topology_ptr topology = topology_of_this_host();
  host_cores match;
  if (topology != nullptr) match = cores_of(topology.get(), allowed);
  if (match.empty()) {
    for (const std::uint32_t each : allowed) match.push_back({.processors = {each}});
  }
  return match;
}

host_cores cores_of_synthetic_host(const std::string& description) {
  const topology_ptr topology = new_topology();
  if (topology == nullptr || hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw setup_error("hwloc does not understand the topology '" + description +
                      "' (it is to describe a host): write it as \"numa:2 core:4 pu:2\"");
  }
  return cores_of(topology.get(), {});
}

}  // namespace nacre
