// SPDX-License-Identifier: Apache-2.0
// Opens the connections of one rank to all of its peers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/launch/control_line.hpp"
#include "transport/net/door.hpp"
#include "wire/auth.hpp"

namespace nacre::transport::tcp {

/// What a rank brings to the meeting. The door and the line stay in use during the whole job.
struct meeting {
  const job_secret& secret;
  const peer_identity& local;
  const std::vector<std::string>& addresses;  ///< where each rank listens
  net::door& entrance;
  launch::control_line* line = nullptr;  ///< null: no launcher
  net::time_point deadline;
};

/// One connection for each peer, by rank; the own place is empty. The higher rank calls the lower one, and calls again
/// when the connection breaks before both have proven themselves; a refusal in words is final. Blocks until all are
/// there. Throws setup_error naming a peer that is missing, or job_aborted.
[[nodiscard]] std::vector<std::optional<net::guest>> meet(const meeting& parts);

}  // namespace nacre::transport::tcp
