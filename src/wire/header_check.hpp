// SPDX-License-Identifier: Apache-2.0
// Checks the source that a message names against the peer that it came from.
#pragma once

#include <cstdint>

#include <nacre/message.hpp>

namespace nacre {

/// Whether a message that came from `peer` may name the source in its header. A peer names itself, with one exception:
/// a message to an object keeps the rank that sent it first when `peer` forwards it. Transports check every header that
/// arrives, because replies, credits and the order of streams depend on the source.
[[nodiscard]] inline bool may_name_its_source(const message_header& header, std::uint32_t peer) noexcept {
  if (header.source == peer) return true;
  return follows_object(header.kind) && header.hops != 0;
}

}  // namespace nacre
