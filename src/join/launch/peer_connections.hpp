// SPDX-License-Identifier: Apache-2.0
// Opens the connections of one rank to all of its peers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "join/launch/launcher_connection.hpp"
#include "join/net/listener.hpp"
#include "wire/auth.hpp"

namespace nacre::launch {

/// The arguments of the bootstrap of a rank. `listener` and `launcher` stay in use during the whole job.
struct bootstrap {
  const job_secret& secret;
  const peer_identity& local;                 ///< its `connections`: the most that a pair of ranks makes
  const std::vector<std::string>& addresses;  ///< where each rank listens, by rank
  net::listener& listener;
  launcher_connection* launcher = nullptr;  ///< null: no launcher
  net::time_point deadline;
  std::string_view time_option = "tcp.connect_timeout";  ///< the option that gives the ranks more time
  /// The number of connections with this peer, at least 1; both sides must find the same. Empty: local.connections.
  std::function<std::uint32_t(const peer_identity& peer)> wanted = {};
};

/// The connections with one peer, in the order of their numbers.
using candidates_of_rank = std::vector<net::peer_candidate>;

/// Makes all connections and returns them by rank; the own place is empty. The higher rank of a pair calls the lower
/// one, once for each connection, one after the other. It calls again when a connection breaks before both sides have
/// proven themselves; a refusal in words is final. Every connection proves the secret. A connection is refused
/// if its identity differs from that of the peer's first connection. Blocks until all are there. Throws setup_error
/// that names a missing peer, or job_aborted.
[[nodiscard]] std::vector<candidates_of_rank> connect_all(const bootstrap& parts);

}  // namespace nacre::launch
