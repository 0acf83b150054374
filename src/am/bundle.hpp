// SPDX-License-Identifier: Apache-2.0
// Many small messages as one: the layout of a bundle, its writer and its checked reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/message.hpp>

#include "backplane/credits.hpp"
#include "wire/header_check.hpp"

namespace nacre::bundle {

/// The payload of a bundle is a row of parts, each with a header of 40 bytes, its payload, and zeros up to a multiple
/// of 8 bytes. In the bundle's own header, `object` is its form: `uniform` when every part is for a worker and for the
/// rank itself; `objects` when every part is a message to an object that comes straight from its sender; else `mixed`.
/// Parts are in the order in which they were sent; a bundle holds no bundles.
inline constexpr std::uint64_t mixed = 0;
inline constexpr std::uint64_t uniform = bundle_stays_whole;
inline constexpr std::uint64_t objects = 2;

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }
/// Bytes that a message with this payload takes in a bundle.
[[nodiscard]] constexpr std::size_t part_bytes(std::size_t payload_bytes) noexcept {
  return sizeof(message_header) + padded(payload_bytes);
}
[[nodiscard]] inline bool is_uniform_part(const message_header& header) noexcept {
  return header.kind == message_kind::rank && (header.flags & flag_communication) == 0;
}

/// The form of a bundle of such parts.
[[nodiscard]] inline std::uint64_t form_of_part(const message_header& header) noexcept {
  if (is_uniform_part(header)) return uniform;
  constexpr std::uint8_t plain = flag_uncounted | flag_granted;
  const bool direct = header.hops == 0 && (header.flags & ~plain) == 0;
  return header.kind == message_kind::object && direct ? objects : mixed;
}

/// Writes a part with a packed payload; there is room for part_bytes at `at`.
inline void write_part(std::byte* at, const message_header& header, std::span<const std::byte> payload) noexcept {
  std::memcpy(at, &header, sizeof header);
  std::byte* const body = at + sizeof header;
  if (!payload.empty()) std::memcpy(body, payload.data(), payload.size());
  std::memset(body + payload.size(), 0, padded(payload.size()) - payload.size());
}

[[nodiscard]] inline std::size_t payload_bytes_of(const message& m) {
  return m.packed() ? m.header.payload_bytes : m.ops->packed_size(m);
}

/// Writes a part from a message of that payload, packed or of live values, which are packed here.
inline void write_part_of(message& m, std::size_t payload_bytes, std::byte* at) {
  message_header header = m.header;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  if (m.packed()) return write_part(at, header, {m.body(), payload_bytes});
  std::memcpy(at, &header, sizeof header);
  std::byte* const body = at + sizeof header;
  writer out(std::span<std::byte>(body, payload_bytes));
  m.ops->pack(m, out);
  NACRE_ENSURE(out.size() == payload_bytes, "a serialize function wrote another number of bytes than it announced");
  std::memset(body + payload_bytes, 0, padded(payload_bytes) - payload_bytes);
}

/// A part as it lies in its bundle.
struct part {
  message_header header;  ///< a copy
  std::span<const std::byte> payload;
};

/// Bounds on the header fields of every part of an arrived bundle.
struct limits {
  std::uint32_t sender = 0;  ///< of the bundle; the source of its parts, except of forwarded ones
  std::uint32_t ranks = 0;
};

/// The part that begins at `offset`, which moves behind it; nothing when the bytes there are no part.
[[nodiscard]] inline std::optional<part> read_part(std::span<const std::byte> bytes, std::size_t& offset,
                                                   const limits& what) noexcept {
  if (bytes.size() - offset < sizeof(message_header)) return std::nullopt;
  part found;
  std::memcpy(&found.header, bytes.data() + offset, sizeof(message_header));
  const std::size_t rest = bytes.size() - offset - sizeof(message_header);
  const std::size_t length = found.header.payload_bytes;
  if (length > rest || padded(length) > rest) return std::nullopt;
  const bool sane = found.header.kind <= message_kind::reply && found.header.kind != message_kind::bundle &&
                    found.header.kind != message_kind::credit && (found.header.flags & ~message_flags_known) == 0 &&
                    found.header.channel <= channel::bulk && found.header.source < what.ranks &&
                    may_name_its_source(found.header, what.sender);
  if (!sane) return std::nullopt;
  found.payload = bytes.subspan(offset + sizeof(message_header), length);
  offset += sizeof(message_header) + padded(length);
  return found;
}

/// A part as a message of its own.
[[nodiscard]] inline message_ptr make_message_of(const part& from) {
  message_ptr m = make_message(from.payload.size());
  m->header = from.header;
  if (!from.payload.empty()) std::memcpy(m->body(), from.payload.data(), from.payload.size());
  return m;
}

}  // namespace nacre::bundle
