// SPDX-License-Identifier: Apache-2.0
// Calls one listening socket and waits until both sides have proven themselves.
#pragma once

#include <nacre/expected.hpp>

#include "transport/net/greeting.hpp"

namespace nacre::transport::net {

/// Connects to `where` and drives the handshake. Blocks, at most to the deadline. Any thread.
[[nodiscard]] expected<guest, refusal> call(const address& where, handshake how, time_point deadline);

}  // namespace nacre::transport::net
