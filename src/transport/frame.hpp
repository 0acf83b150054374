// SPDX-License-Identifier: Apache-2.0
// Messages as bytes between two ranks, and the checks of those that arrive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <nacre/message.hpp>

#include "wire/header_check.hpp"

namespace nacre::transport {

/// The bytes of a packed message as they travel: its header and its payload, which follows the header in memory, too.
[[nodiscard]] std::span<const std::byte> frame_of(const message& m) noexcept;

/// The frame that ends a stream on purpose: a header of zeros whose kind is 255.
[[nodiscard]] std::array<std::byte, sizeof(message_header)> shutdown_frame() noexcept;

/// The protocol violations of a peer. After any of them the peer has failed.
enum class frame_error : std::uint8_t {
  payload_too_large,
  unknown_kind,
  unknown_channel,
  other_channel,
  unknown_flags,
  source_out_of_range,
  source_forged,
  bytes_after_shutdown
};

/// One clause, such as "sent a message of an unknown kind".
[[nodiscard]] std::string_view describe(frame_error error) noexcept;

/// The limits that a header must satisfy.
struct frame_limits {
  std::uint32_t ranks = 0;                             ///< sources are below
  std::uint32_t payload_bytes_max = 0;                 ///< payloads are at most this long
  std::uint32_t channels = (1u << channel_count) - 1;  ///< that the stream carries: bit n for channel n
  std::optional<rank_id> peer{};                       ///< the source that they must name, but for forwarded ones
};

[[nodiscard]] bool is_shutdown(const message_header& header) noexcept;

/// The first violation, if any. A shutdown frame is none.
[[nodiscard]] inline std::optional<frame_error> check_header(const message_header& header,
                                                             const frame_limits& limits) noexcept {
  if (header.kind > message_kind::reply) {
    if (is_shutdown(header)) return std::nullopt;
    return frame_error::unknown_kind;
  }
  if (header.payload_bytes > limits.payload_bytes_max) return frame_error::payload_too_large;
  if (header.channel > channel::bulk) return frame_error::unknown_channel;
  if ((limits.channels >> static_cast<unsigned>(header.channel) & 1u) == 0) return frame_error::other_channel;
  if ((header.flags & ~message_flags_known) != 0) return frame_error::unknown_flags;
  if (header.source >= limits.ranks) return frame_error::source_out_of_range;
  if (limits.peer && !may_name_its_source(header, limits.peer->value())) return frame_error::source_forged;
  return std::nullopt;
}

}  // namespace nacre::transport
