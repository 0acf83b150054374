// SPDX-License-Identifier: Apache-2.0
// The ranks that have forwarded a message, as the message itself carries them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

/// A message with flag_path in its header has a trailer behind its payload, included in payload_bytes: room for some
/// ranks, 4 bytes each, then the number of ranks and the room, 2 bytes each; little-endian. The first rank that
/// forwards the message adds the trailer, and the rank where it meets its object takes it off.
inline constexpr std::uint32_t path_room_max = 256;

/// Adds a rank to the path. A message without a trailer is packed and gets one with room for `room` ranks, 1 to
/// path_room_max. When no room is left the path stays as it is. Takes the message and returns it, or a copy.
[[nodiscard]] message_ptr add_to_path(message_ptr m, rank_id rank, std::uint32_t room);

/// Takes the trailer off and returns the ranks that have forwarded the message, in order; the message is then as it was
/// sent. Nullopt when the bytes are no path in a job of that many ranks.
[[nodiscard]] std::optional<std::vector<rank_id>> take_path(message& m, std::uint32_t ranks);

}  // namespace nacre
