// SPDX-License-Identifier: Apache-2.0
// Compact headers: 23 bits that stand for the header of most messages.
#pragma once

#include <cstdint>
#include <optional>

#include <nacre/message.hpp>

namespace nacre::transport {

/// A small message to a rank is mostly header: 40 bytes. The receiver knows most of them from the connection and the
/// channel that the message comes by; only handler, kind and flags are missing. They are 23 bits, the *compact* header:
///
/// | bits | 22 to 7 | 6 to 3 | 2 to 0 |
/// |---|---|---|---|
/// | | handler | kind | flags |
inline constexpr std::uint32_t compact_bits = 23;

namespace detail {
inline constexpr std::uint32_t compact_flag_bits = 3;
inline constexpr std::uint32_t compact_kind_bits = 4;
inline constexpr std::uint32_t compact_handlers = 1u << (compact_bits - compact_kind_bits - compact_flag_bits);
// These flags come only with an object, for which a compact header has no field.
inline constexpr std::uint32_t object_flags = flag_path | flag_returned | flag_granted;
static_assert((((1u << compact_flag_bits) - 1) & ~std::uint32_t{message_flags_known}) == 0, "none is unknown");
static_assert((message_flags_known & ~object_flags) < 1u << compact_flag_bits);
static_assert(static_cast<std::uint32_t>(message_kind::reply) < 1u << compact_kind_bits);
}  // namespace detail

/// Compresses the header of a message that `source` sends on that channel. Nothing when the header carries more than a
/// compact one can.
[[nodiscard]] inline std::optional<std::uint32_t> compress(const message_header& header, std::uint32_t source,
                                                           std::uint32_t channel_index) noexcept {
  const bool says_more = (header.object | header.reply) != 0 || (header.sequence | header.epoch | header.hops) != 0;
  if (says_more || header.handler >= detail::compact_handlers) return std::nullopt;
  if (header.source != source || static_cast<std::uint32_t>(header.channel) != channel_index) return std::nullopt;
  if (header.kind > message_kind::reply || header.flags >> detail::compact_flag_bits != 0) return std::nullopt;
  const std::uint32_t handler_and_kind =
      header.handler << detail::compact_kind_bits | static_cast<std::uint32_t>(header.kind);
  return handler_and_kind << detail::compact_flag_bits | header.flags;
}

/// The kind in a compact header, which may be any number.
[[nodiscard]] inline message_kind kind_of_compact(std::uint32_t compact) noexcept {
  return static_cast<message_kind>(compact >> detail::compact_flag_bits & ((1u << detail::compact_kind_bits) - 1));
}

/// The fault of a compact header, as one clause; null when it has none. Only its kind can be wrong.
[[nodiscard]] inline const char* fault_of_compact(std::uint32_t compact) noexcept {
  return kind_of_compact(compact) > message_kind::reply ? "sent a message of an unknown kind" : nullptr;
}

/// Expands a compact header into `header`, of which only the length is set. Checks nothing.
inline void expand(std::uint32_t compact, std::uint32_t source, std::uint32_t channel_index,
                   message_header& header) noexcept {
  header.handler = compact >> (detail::compact_kind_bits + detail::compact_flag_bits) & (detail::compact_handlers - 1);
  header.source = source;
  header.kind = kind_of_compact(compact);
  header.flags = static_cast<std::uint8_t>(compact & ((1u << detail::compact_flag_bits) - 1));
  header.channel = static_cast<channel>(channel_index);
}

}  // namespace nacre::transport
