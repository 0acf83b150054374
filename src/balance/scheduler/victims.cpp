// SPDX-License-Identifier: Apache-2.0
// Distances between the processors of this host, from hwloc.
#include "balance/scheduler/victims.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <set>
#include <utility>

namespace nacre {
namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

struct topology_deleter {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using topology_ptr = std::unique_ptr<hwloc_topology, topology_deleter>;

topology_ptr load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  topology_ptr made(raw);
  return hwloc_topology_load(raw) == 0 ? std::move(made) : nullptr;
}

std::vector<hwloc_obj_t> processors_of(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> found;
  hwloc_obj_t each = nullptr;
  while ((each = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, each)) != nullptr) found.push_back(each);
  return found;
}

/// The topology of the host does not change, so it is read once for all ranks of the process.
std::shared_ptr<const nearness> of_this_host() {
  static const std::shared_ptr<const nearness> host = nearness::look_at_host();
  return host;
}

}  // namespace

nearness::nearness(std::vector<std::vector<std::uint8_t>> levels, std::function<std::uint32_t()> here)
    : levels_(std::move(levels)), here_(std::move(here)) {
  for (const auto& row : levels_) {
    for (const std::uint8_t each : row) highest_ = std::max(highest_, each);
  }
}

/// The depth of the common ancestor of two processors gives their level: the deepest is level 0.
std::shared_ptr<const nearness> nearness::look_at_host() {
  const topology_ptr topology = load_topology();
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
  const auto here = [] {
    const int processor = sched_getcpu();
    return processor < 0 ? nowhere : static_cast<std::uint32_t>(processor);
  };
  return std::make_shared<const nearness>(std::move(levels), here);
}

victims::victims(std::uint32_t threads, std::shared_ptr<const nearness> known)
    : threads_(threads), known_(std::move(known)), places_(threads) {
  for (std::atomic<std::uint32_t>& each : places_) each = nowhere;
}

victims::victims(const scheduler_site& site)
    : victims(site.threads(), site.simulated || site.workers < 3 ? nullptr : of_this_host()) {}

}  // namespace nacre
