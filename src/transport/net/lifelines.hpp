// SPDX-License-Identifier: Apache-2.0
// Connections by which ranks in one process notice each other's end, as those of several processes do by their sockets.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/net/socket.hpp"

namespace nacre::transport::net {

/// A stream between each two of so many ranks: [rank][peer] is the rank's end of the one with that peer, empty for
/// itself. Throws setup_error.
[[nodiscard]] std::vector<std::vector<unique_fd>> make_lifelines(std::uint32_t ranks);

}  // namespace nacre::transport::net
