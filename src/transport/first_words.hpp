// SPDX-License-Identifier: Apache-2.0
// What two ranks tell each other over a fresh connection, before messages travel some other way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "join/launch/launcher_connection.hpp"
#include "join/net/socket_handshake.hpp"

namespace nacre::transport {

enum class first_words : std::uint8_t {
  complete,
  closed,  ///< the peer has closed its connection
  late     ///< the peer does not answer by the deadline
};

/// Receives the first bytes of a peer behind the handshake, as many as `target` holds. Blocks, at most to the deadline.
/// Throws job_aborted when the launcher, if there is one, ends the job meanwhile.
[[nodiscard]] first_words receive_first_words(std::span<std::byte> target, const net::peer_candidate& peer_candidate,
                                              launch::launcher_connection* launcher, net::time_point deadline);

}  // namespace nacre::transport
