// SPDX-License-Identifier: Apache-2.0
// The layout of a datagram: a tag, a head, the ranges that it acknowledges, and bytes of one channel's stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nacre/message.hpp>

#include "transport/datagram_service.hpp"

namespace nacre::transport::udp {

/// The tag in front of each datagram proves that a peer of the job has written all that follows it.
inline constexpr std::size_t tag_bytes = 16;
using datagram_tag = std::array<unsigned char, tag_bytes>;
/// The longest payload of a UDP datagram over IPv4.
inline constexpr std::size_t datagram_bytes_max = 65'507;
/// Every path carries datagrams of this size (RFC 8200 asks for 1,280 bytes with the headers of IPv6 and UDP).
inline constexpr std::size_t datagram_bytes_min = 1'232;

/// The bytes behind the head of a datagram may lie in so many places.
inline constexpr std::size_t datagram_pieces_max = 4;
/// Room for such places. None: the bytes follow the head.
struct datagram_pieces {
  std::array<std::span<const std::byte>, datagram_pieces_max> each;
  std::size_t count = 0;
  [[nodiscard]] byte_pieces view() const noexcept { return {each.data(), count}; }
};

/// The sum of their lengths.
[[nodiscard]] inline std::size_t bytes_in(byte_pieces pieces) noexcept {
  std::size_t sum = 0;
  for (const std::span<const std::byte> piece : pieces) sum += piece.size();
  return sum;
}

/// Consecutive numbers of datagrams, from `begin` up to but not including `end`.
struct number_range {
  std::uint64_t begin;
  std::uint64_t end;
  friend bool operator==(const number_range&, const number_range&) = default;
};

/// The most ranges that one datagram acknowledges.
inline constexpr std::size_t ack_ranges_max = 32;

/// Ranges of received numbers, newest first, with at least one number missing between two of them. Those from `count`
/// on are not initialised.
struct ack_ranges {
  std::array<number_range, ack_ranges_max> each;
  std::size_t count = 0;
  [[nodiscard]] std::span<const number_range> view() const noexcept { return {each.data(), count}; }
};

/// The purpose of a datagram. A peer sends no other kind.
enum class datagram_kind : std::uint8_t {
  acknowledgement,  ///< carries ranges only, and is not acknowledged itself
  stream,           ///< carries bytes of a stream, too, and is acknowledged
  ping,             ///< carries ranges, and bytes without a meaning; is acknowledged
  unreliable        ///< of datagram_service: no part of the reliable protocol; see unreliable_link
};

/// A datagram of the reliable protocol, without its tag.
struct datagram {
  std::uint64_t number = 0;  ///< a sender uses each number once
  datagram_kind kind = datagram_kind::acknowledgement;
  channel stream_channel = channel::system;  ///< of the stream
  std::uint32_t ack_delay_us = 0;            ///< time between the arrival of the newest acknowledged one and this reply
  std::uint64_t offset = 0;                  ///< position in the stream of the first of `bytes`
  std::span<const number_range> acknowledged{};  ///< newest first; none: nothing has arrived yet
  std::span<const std::byte> bytes{};            ///< of the stream
};

/// The bytes of a datagram, tag included, whose stream bytes are left out.
[[nodiscard]] std::size_t overhead_of(std::size_t ranges) noexcept;

/// Writes all but the tag and the stream bytes, which follow what is written. Returns where they begin. `target` has at
/// least overhead_of(ranges) bytes.
std::size_t write_head(const datagram& datagram, std::span<std::byte> target) noexcept;

/// Reads a datagram whose tag has been verified, and its ranges into `ranges`, which the result refers to. Nothing: it
/// is too short, or one of its fields makes no sense. Behind `bytes` follow `apart_bytes` more of the stream, which lie
/// elsewhere.
[[nodiscard]] std::optional<datagram> read_datagram(std::span<const std::byte> bytes, ack_ranges& ranges,
                                                    std::size_t apart_bytes = 0) noexcept;

/// The fields of an unreliable datagram. The others of its head are 0.
struct unreliable_head {
  std::uint64_t number = 0;  ///< a sender uses each number once, apart from those of the reliable protocol
  std::uint32_t label = 0;
};
/// The bytes of an unreliable datagram in front of its contents, tag included.
inline constexpr std::size_t unreliable_head_bytes = 48;

/// Whether a datagram says that it is unreliable. To be asked before any tag is verified.
[[nodiscard]] bool is_unreliable(std::span<const std::byte> bytes) noexcept;
/// Writes all of a head but the tag. `target` has at least unreliable_head_bytes.
void write_unreliable_head(const unreliable_head& head, std::span<std::byte> target) noexcept;
/// Reads a head before its tag is verified. Nothing: it is too short, or not one that a peer writes.
[[nodiscard]] std::optional<unreliable_head> read_unreliable_head(std::span<const std::byte> bytes) noexcept;

/// The number of a datagram of at least overhead_of(0) bytes, before its tag has been verified.
[[nodiscard]] std::uint64_t number_of(std::span<const std::byte> bytes) noexcept;

}  // namespace nacre::transport::udp
