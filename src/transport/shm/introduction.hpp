// SPDX-License-Identifier: Apache-2.0
// How ranks that have proven themselves to each other exchange their segments.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/net/greeting.hpp"
#include "transport/shm/peer_link.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// What a rank brings to the introduction.
struct introduction {
  rank_id rank;
  segment& own;
  const geometry& sizes;
  bool single_copy = true;               ///< let peers read this process's memory, and try to read theirs
  launch::control_line* line = nullptr;  ///< null: no launcher
  net::time_point deadline;
};

/// Tells every guest which segment is this rank's, by the number of its descriptor, and maps theirs; also tries whether
/// their memory can be read and written (process_vm_readv, process_vm_writev). The connections become lifelines. Blocks
/// until all peers have spoken. Throws setup_error naming a peer, or job_aborted.
[[nodiscard]] std::vector<std::optional<peer_parts>> introduce(const introduction& parts,
                                                               std::vector<std::optional<net::guest>> guests);

}  // namespace nacre::transport::shm
