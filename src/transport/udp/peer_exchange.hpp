// SPDX-License-Identifier: Apache-2.0
// How two ranks that have met over a stream agree on a connection over datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/net/socket_handshake.hpp"
#include "transport/udp/endpoint.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::udp {

/// The line that tells a user that the kernel keeps less of each peer than was asked for; empty: it keeps enough.
[[nodiscard]] std::string line_of_small_buffer(std::size_t wanted_bytes, std::size_t given_bytes);

/// The parts that a rank brings to the exchange.
struct peer_exchange {
  rank_id rank;
  const job_secret& secret;
  launch::launcher_connection* launcher = nullptr;  ///< null: no launcher
  net::time_point deadline;
  std::uint32_t mtu = 0;             ///< the longest packet; 0: as long as the route carries
  std::size_t receive_buffer_bytes;  ///< wanted for each peer
  datagram_socket::loss lose = {};   ///< a test's path; empty: none
};

/// Opens a socket for each peer candidate, tells it over the stream where that is, and connects to the peer's. The keys
/// follow from the job's secret, both ranks and fresh random numbers of both. The streams become the peers' liveness
/// sockets. Blocks; throws setup_error or job_aborted.
[[nodiscard]] std::vector<std::optional<peer_parts>> exchange_with_peers(
    const peer_exchange& parts, std::vector<std::optional<net::peer_candidate>> candidates);

}  // namespace nacre::transport::udp
