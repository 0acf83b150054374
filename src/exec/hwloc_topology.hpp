// SPDX-License-Identifier: Apache-2.0
// Owns a topology of hwloc.
#pragma once

#include <hwloc.h>

#include <memory>

namespace nacre {

struct topology_deleter {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using topology_ptr = std::unique_ptr<hwloc_topology, topology_deleter>;

/// A topology that has not been loaded yet; null when hwloc refuses.
[[nodiscard]] inline topology_ptr new_topology() {
  hwloc_topology_t raw = nullptr;
  return hwloc_topology_init(&raw) == 0 ? topology_ptr(raw) : nullptr;
}

/// Null when hwloc cannot read it. Takes some milliseconds. Where /sys does not describe the processors, as in some
/// containers, hwloc asks the processors alone: it would complain on standard error of every program otherwise.
[[nodiscard]] topology_ptr topology_of_this_host();

}  // namespace nacre
