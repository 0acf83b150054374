// SPDX-License-Identifier: Apache-2.0
// The mark of messages that lay at their object in an image.
#pragma once

#include <cstdint>

#include <nacre/message.hpp>

namespace nacre {

/// A bit of message_header::flags: an image held the message, so it belongs to no stream, has been admitted, and stays
/// with its object. It never travels alone, only along with the object; transports refuse it.
inline constexpr std::uint8_t flag_restored = 64;
static_assert((message_flags_known & flag_restored) == 0);

}  // namespace nacre
