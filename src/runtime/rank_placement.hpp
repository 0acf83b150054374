// SPDX-License-Identifier: Apache-2.0
// The cores of the ranks of one process.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nacre/config.hpp>

#include "exec/placement.hpp"
#include "transport/transport.hpp"

namespace nacre {

/// Made once in a process, before any thread is bound: afterwards a thread sees only its own cores.
class rank_placement {
 public:
  /// Reads the host's topology where it is needed. Throws setup_error when the configuration asks for what the host
  /// does not have.
  rank_placement(const config& configuration, const transport::fabric& fabric);

  /// The processors that the process may use.
  [[nodiscard]] std::uint32_t cores() const noexcept { return cores_; }
  /// The plan for the local rank with this position in fabric.local_ranks().
  [[nodiscard]] placement of(std::size_t local) const;

 private:
  std::uint32_t cores_;
  host_cores host_;  // empty: nothing is bound
  placement_request asked_;
};

}  // namespace nacre
