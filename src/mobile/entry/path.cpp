// SPDX-License-Identifier: Apache-2.0
// The trailer with the path.
#include "mobile/entry/path.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>

namespace nacre {
namespace {

struct trailer_end {
  std::uint16_t count = 0;
  std::uint16_t room = 0;
};

constexpr std::size_t trailer_bytes(std::size_t room) noexcept {
  return room * sizeof(std::uint32_t) + sizeof(trailer_end);
}

/// The end of the trailer, if it fits the message.
std::optional<trailer_end> end_of(const message& m) noexcept {
  trailer_end end;
  const std::size_t bytes = m.header.payload_bytes;
  if (!m.packed() || bytes < sizeof end) return std::nullopt;
  std::memcpy(&end, m.body() + bytes - sizeof end, sizeof end);
  if (end.room > path_room_max || end.count > end.room || trailer_bytes(end.room) > bytes) return std::nullopt;
  return end;
}

/// A copy with an empty trailer; the message itself when it is too long for one.
message_ptr with_trailer(message_ptr m, std::uint32_t room) {
  m = packed_form(std::move(m));
  const std::size_t bytes = m->header.payload_bytes;
  if (bytes + trailer_bytes(room) > payload_bytes_max) return m;
  message_ptr longer = make_message(bytes + trailer_bytes(room));
  const std::uint32_t longer_bytes = longer->header.payload_bytes;
  longer->header = m->header;
  longer->header.payload_bytes = longer_bytes;
  longer->header.flags |= flag_path;
  std::memcpy(longer->body(), m->body(), bytes);
  std::memset(longer->body() + bytes, 0, trailer_bytes(room));
  const trailer_end end{0, static_cast<std::uint16_t>(room)};
  std::memcpy(longer->body() + longer_bytes - sizeof end, &end, sizeof end);
  return longer;
}

}  // namespace

message_ptr add_to_path(message_ptr m, rank_id owner, std::uint32_t room) {
  NACRE_EXPECT(room >= 1 && room <= path_room_max, "a path has room for some ranks");
  if ((m->header.flags & flag_path) == 0) m = with_trailer(std::move(m), room);
  if ((m->header.flags & flag_path) == 0) return m;
  std::optional<trailer_end> end = end_of(*m);
  if (!end || end->count == end->room) return m;  // an invalid path is refused at its destination
  std::byte* const trailer = m->body() + m->header.payload_bytes - trailer_bytes(end->room);
  const std::uint32_t rank = owner.value();
  std::memcpy(trailer + end->count * sizeof rank, &rank, sizeof rank);
  ++end->count;
  std::memcpy(m->body() + m->header.payload_bytes - sizeof *end, &*end, sizeof *end);
  return m;
}

std::optional<std::vector<rank_id>> take_path(message& m, std::uint32_t ranks) {
  const std::optional<trailer_end> end = end_of(m);
  if (!end) return std::nullopt;
  m.header.payload_bytes -= static_cast<std::uint32_t>(trailer_bytes(end->room));
  m.header.flags &= static_cast<std::uint8_t>(~flag_path);
  std::vector<rank_id> path;
  for (std::uint16_t index = 0; index < end->count; ++index) {
    std::uint32_t rank = 0;
    std::memcpy(&rank, m.body() + m.header.payload_bytes + index * sizeof rank, sizeof rank);
    if (rank >= ranks) return std::nullopt;
    path.emplace_back(rank);
  }
  return path;
}

}  // namespace nacre
