// SPDX-License-Identifier: Apache-2.0
// Opens the connections of one rank to all of its peers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/net/door.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::launch {

/// What a rank brings to the meeting. The door and the line stay in use during the whole job.
struct meeting {
  const job_secret& secret;
  const peer_identity& local;                 ///< its `connections`: how many each pair of ranks makes at most
  const std::vector<std::string>& addresses;  ///< where each rank listens
  net::door& entrance;
  control_line* line = nullptr;  ///< null: no launcher
  net::time_point deadline;
  std::string_view time_option = "tcp.connect_timeout";  ///< what gives the ranks more time
  /// How many a pair with this peer makes, at least 1; both must find the same number. Empty: local.connections.
  std::function<std::uint32_t(const peer_identity& peer)> wanted = {};
};

/// The connections with one peer, in the order of their numbers.
using guests_of_rank = std::vector<net::guest>;

/// All connections, by rank; the own place is empty. The higher rank calls the lower one, once for each connection, one
/// after the other, and calls again when one breaks before both have proven themselves; a refusal in words is final.
/// Every connection proves the secret, and that of the same peer as the first one: who claims another identity is
/// refused. Blocks until all are there. Throws setup_error naming a peer that is missing, or job_aborted.
[[nodiscard]] std::vector<guests_of_rank> meet_all(const meeting& parts);

/// The same for one connection with each peer; the own place is empty.
[[nodiscard]] std::vector<std::optional<net::guest>> meet(const meeting& parts);

}  // namespace nacre::transport::launch
