// SPDX-License-Identifier: Apache-2.0
// Calls one listening socket and waits until both sides have proven themselves.
#pragma once

#include <chrono>
#include <optional>

#include <nacre/expected.hpp>

#include "join/net/socket_handshake.hpp"

namespace nacre::net {

/// The identity of the caller and the rank that it expects; without a rank, it accepts any peer that has the secret.
struct caller {
  const job_secret& secret;
  peer_identity local;
  std::optional<rank_id> expected = std::nullopt;
};

/// Connects to `address` and proves the secret there. A call that is not answered within `patience` is closed and made
/// again, until the deadline, and at least once. So a machine that was suspended for longer than that loses no more
/// than time. Blocks. Any thread.
[[nodiscard]] expected<peer_candidate, refusal> call(
    const address& address, const caller& self, time_point deadline,
    std::chrono::milliseconds patience = std::chrono::milliseconds(handshake_time_ms_max));

}  // namespace nacre::net
