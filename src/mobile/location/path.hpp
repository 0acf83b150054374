// SPDX-License-Identifier: Apache-2.0
// The ranks that have forwarded a message, as the message itself carries them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

/// A message with flag_path in its header has a trailer behind its payload, which payload_bytes includes: room for so
/// many ranks, of 4 bytes each, then how many there are and the room, of 2 bytes each; little-endian. It comes to be
/// when the message is forwarded first and is taken off where it meets its object.
inline constexpr std::uint32_t path_room_max = 256;

/// Adds a rank to the path; a message without one gets one with room for `room` ranks, 1 to path_room_max, and is
/// packed for it. When there is no room left the path stays as it is. Takes the message and gives it, or another one,
/// back.
[[nodiscard]] message_ptr add_to_path(message_ptr m, rank_id by, std::uint32_t room);

/// Takes the trailer off and tells who has forwarded the message, in order; the message is as it was sent then. Nothing
/// when the bytes are no path in a job of so many ranks.
[[nodiscard]] std::optional<std::vector<rank_id>> take_path(message& m, std::uint32_t ranks);

}  // namespace nacre
