// SPDX-License-Identifier: Apache-2.0
// In whose name a peer may send.
#pragma once

#include <cstdint>

#include <nacre/message.hpp>

namespace nacre {

/// Whether a message that `peer` has handed over may name its source. A peer sends in its own name, except that it
/// forwards messages to objects, which keep the name of the rank that sent them first. Transports ask this of every
/// header that arrives, since replies, credits and orders of streams hang on the source.
[[nodiscard]] inline bool may_name_its_source(const message_header& header, std::uint32_t peer) noexcept {
  if (header.source == peer) return true;
  return follows_object(header.kind) && header.hops != 0;
}

}  // namespace nacre
