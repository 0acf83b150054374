// SPDX-License-Identifier: Apache-2.0
// Distances between the processors of this host: the depths of their common ancestors.
#include "exec/nearness.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "exec/hwloc_topology.hpp"

namespace nacre {
namespace {

std::vector<hwloc_obj_t> processors_of(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> hwloc_obj_ts;
  hwloc_obj_t each = nullptr;
  while ((each = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, each)) != nullptr) hwloc_obj_ts.push_back(each);
  return hwloc_obj_ts;
}

}  // namespace

nearness::nearness(std::vector<std::vector<std::uint8_t>> levels, std::function<std::uint32_t()> function)
    : levels_(std::move(levels)), own_processor_(std::move(function)) {
  for (const auto& row : levels_) {
    for (const std::uint8_t each : row) highest_ = std::max(highest_, each);
  }
}

/// The depth of the common ancestor of two processors gives their level: the deepest is level 0.
std::shared_ptr<const nearness> nearness::look_at_host() {
  const topology_ptr topology = topology_of_this_host();
  if (topology == nullptr) return nullptr;
  const std::vector<hwloc_obj_t> processors = processors_of(topology.get());
  const auto meet = [&](hwloc_obj_t a, hwloc_obj_t b) {
    return a == b ? a->depth : hwloc_get_common_ancestor_obj(topology.get(), a, b)->depth;
  };
  std::set<int, std::greater<>> depths;
  std::uint32_t named = 0;
  for (const hwloc_obj_t a : processors) {
    named = std::max(named, a->os_index + 1);
    for (const hwloc_obj_t b : processors) {
      if (a != b) depths.insert(meet(a, b));
    }
  }
  if (depths.size() < 2) return nullptr;
  const auto farthest = static_cast<std::uint8_t>(depths.size() - 1);
  std::vector<std::vector<std::uint8_t>> levels(named, std::vector<std::uint8_t>(named, farthest));
  for (const hwloc_obj_t a : processors) {
    for (const hwloc_obj_t b : processors) {
      const auto level = a == b ? depths.begin() : depths.find(meet(a, b));
      levels[a->os_index][b->os_index] = static_cast<std::uint8_t>(std::distance(depths.begin(), level));
    }
  }
  const auto function = [] {
    const int processor = sched_getcpu();
    return processor < 0 ? nowhere : static_cast<std::uint32_t>(processor);
  };
  return std::make_shared<const nearness>(std::move(levels), function);
}

std::shared_ptr<const nearness> nearness::of_this_host() {
  static const std::shared_ptr<const nearness> host = look_at_host();
  return host;
}

}  // namespace nacre
