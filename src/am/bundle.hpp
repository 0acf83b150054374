// SPDX-License-Identifier: Apache-2.0
// Many small messages as one: the layout of a bundle, its writer and its checked reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/message.hpp>

#include "backplane/credit_window.hpp"
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

/// Copies a payload, without a call where it is short.
inline void copy_payload(std::byte* target, std::span<const std::byte> source) noexcept {
  const std::byte* const begin = source.data();
  const std::size_t bytes = source.size();
  if (bytes > 16) {
    std::memcpy(target, begin, bytes);
  } else if (bytes >= 8) {  // two words, which may overlap
    std::memcpy(target, begin, 8);
    std::memcpy(target + bytes - 8, begin + bytes - 8, 8);
  } else {
    for (std::size_t each = 0; each < bytes; ++each) target[each] = begin[each];
  }
}
/// Writes the zeros behind a payload: the whole of its last word, before the payload is written.
inline void pad(std::byte* body, std::size_t payload_bytes) noexcept {
  if (payload_bytes % 8 != 0) std::memset(body + padded(payload_bytes) - 8, 0, 8);
}

[[nodiscard]] inline std::size_t payload_bytes_of(const message& m) {
  return m.packed() ? m.header.payload_bytes : m.ops->packed_size(m);
}

/// Writes a part from a message of that payload, packed or of live values, which are packed here.
inline void write_part_of(message& m, std::size_t payload_bytes, std::byte* position) {
  std::memcpy(position, &m.header, sizeof(message_header));
  // In place: a copy that is changed and then copied in longer words would wait for its own store.
  const auto length = static_cast<std::uint32_t>(payload_bytes);
  std::memcpy(position + offsetof(message_header, payload_bytes), &length, sizeof length);
  std::byte* const body = position + sizeof(message_header);
  pad(body, payload_bytes);
  if (m.packed()) return copy_payload(body, {m.body(), payload_bytes});
  writer out(std::span<std::byte>(body, payload_bytes));
  m.ops->pack(m, out);
  NACRE_ENSURE(out.size() == payload_bytes, "a serialize function wrote another number of bytes than it announced");
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

/// Reads the part that begins at `offset`, which moves behind it. False: the bytes there are no part.
[[nodiscard]] inline bool read_part(std::span<const std::byte> bytes, std::size_t& offset, const limits& limits,
                                    part& part) noexcept {
  if (bytes.size() - offset < sizeof(message_header)) return false;
  std::memcpy(&part.header, bytes.data() + offset, sizeof(message_header));
  const std::size_t rest = bytes.size() - offset - sizeof(message_header);
  const std::size_t length = part.header.payload_bytes;
  if (length > rest || padded(length) > rest) return false;
  const bool sane = part.header.kind <= message_kind::reply && part.header.kind != message_kind::bundle &&
                    part.header.kind != message_kind::credit && (part.header.flags & ~message_flags_known) == 0 &&
                    part.header.channel <= channel::bulk && part.header.source < limits.ranks &&
                    may_name_its_source(part.header, limits.sender);
  if (!sane) return false;
  part.payload = bytes.subspan(offset + sizeof(message_header), length);
  offset += sizeof(message_header) + padded(length);
  return true;
}

/// A part as a message of its own.
[[nodiscard]] inline message_ptr make_message_of(const part& part) {
  message_ptr m = make_message(part.payload.size());
  m->header = part.header;
  copy_payload(m->body(), part.payload);
  return m;
}

}  // namespace nacre::bundle
