// SPDX-License-Identifier: Apache-2.0
// Liveness sockets: by them ranks in one process notice each other's end, as ranks of several processes do.
#pragma once

#include <cstdint>
#include <vector>

#include "join/net/socket.hpp"

namespace nacre::net {

/// Makes a stream between each two of so many ranks: [rank][peer] is the rank's end of the stream to that peer, empty
/// for itself. Throws setup_error.
[[nodiscard]] std::vector<std::vector<unique_fd>> make_liveness_sockets(std::uint32_t ranks);

}  // namespace nacre::net
