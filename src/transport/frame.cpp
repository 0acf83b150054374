// SPDX-License-Identifier: Apache-2.0
// Messages as bytes between two ranks, and the checks of those that arrive.
#include "transport/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::transport {
namespace {

constexpr std::size_t header_bytes = sizeof(message_header);
constexpr auto shutdown_kind = static_cast<message_kind>(255);

static_assert(std::endian::native == std::endian::little, "headers travel little-endian, as they are in memory");
static_assert(std::is_trivially_copyable_v<message_header>);
static_assert(std::has_unique_object_representations_v<message_header>, "padding would carry stray bytes");

}  // namespace

std::span<const std::byte> frame_of(const message& m) noexcept {
  const std::byte* const begin = m.body() - header_bytes;
  NACRE_ASSERT_SLOW(begin == reinterpret_cast<const std::byte*>(&m.header), "the header ends where the body begins");
  return {begin, header_bytes + m.header.payload_bytes};
}

std::array<std::byte, header_bytes> shutdown_frame() noexcept {
  message_header header;
  header.kind = shutdown_kind;
  header.channel = channel::system;
  return std::bit_cast<std::array<std::byte, header_bytes>>(header);
}

std::string_view describe(frame_error error) noexcept {
  switch (error) {
    case frame_error::payload_too_large:
      return "sent a message that is larger than allowed";
    case frame_error::unknown_kind:
      return "sent a message of an unknown kind";
    case frame_error::unknown_channel:
      return "sent a message on an unknown channel";
    case frame_error::other_channel:
      return "sent a message on the connection of another channel";
    case frame_error::unknown_flags:
      return "sent a message with unknown flags";
    case frame_error::source_out_of_range:
      return "sent a message from a rank that does not exist";
    case frame_error::source_forged:
      return "sent a message in the name of another rank";
    case frame_error::bytes_after_shutdown:
      return "sent something after its shutdown";
  }
  return "sent something that is no message";
}

bool is_shutdown(const message_header& header) noexcept {
  return std::bit_cast<std::array<std::byte, header_bytes>>(header) == shutdown_frame();
}

}  // namespace nacre::transport
