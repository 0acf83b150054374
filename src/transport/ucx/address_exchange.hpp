// SPDX-License-Identifier: Apache-2.0
// How authenticated ranks exchange their UCX addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/ucx/endpoint.hpp"
#include "transport/ucx/module.hpp"

namespace nacre::transport::ucx {

/// The parts that a rank brings to the address exchange.
struct address_exchange {
  rank_id rank;
  launch::launcher_connection* launcher = nullptr;  ///< null: no launcher
  net::time_point deadline;
};

/// The key and the addresses of a peer.
struct peer_addresses {
  std::uint64_t key = 0;                                              ///< for the stamps of frames to it
  std::array<std::vector<std::byte>, channels_per_peer> addresses{};  ///< of its workers
};

/// Sends each peer candidate the addresses of this rank's channels and the key for that peer (`keys`, by rank). Returns
/// the answers, by rank. The candidates keep their sockets. Blocks; throws setup_error or job_aborted.
[[nodiscard]] std::vector<peer_addresses> exchange_addresses(
    const address_exchange& parts, const port& port, const std::vector<std::uint64_t>& keys,
    const std::vector<std::optional<net::peer_candidate>>& candidates);

}  // namespace nacre::transport::ucx
