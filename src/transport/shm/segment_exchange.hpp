// SPDX-License-Identifier: Apache-2.0
// How authenticated ranks of one host exchange their segments.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/shm/peer_link.hpp"
#include "transport/shm/segment.hpp"

namespace nacre::transport::shm {

/// The own side of the exchange.
struct segment_exchange {
  rank_id rank;
  segment& own_segment;
  const geometry& sizes;
  bool single_copy = true;                          ///< let peers read this process's memory, and try to read theirs
  launch::launcher_connection* launcher = nullptr;  ///< null: no launcher
  net::time_point deadline;
};

/// Sends every peer the descriptor number of this rank's segment and maps the peer's segment. Also tries whether the
/// peer's memory can be read and written (process_vm_readv, process_vm_writev). The connections become liveness
/// sockets. Blocks until all peers have sent theirs. Throws setup_error naming a peer, or job_aborted.
[[nodiscard]] std::vector<std::optional<peer_parts>> exchange_segments(
    const segment_exchange& parts, std::vector<std::optional<net::peer_candidate>> candidates);

}  // namespace nacre::transport::shm
