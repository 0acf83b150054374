// SPDX-License-Identifier: Apache-2.0
// The framing of messages in a byte stream between two ranks, and the checks of arriving frames.
#include "transport/tcp/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::transport::tcp {
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

std::optional<frame_error> frame_reader::filled(std::size_t bytes, message_list& arrived) {
  if (failed_) return failed_;
  if (partial_ != nullptr) {
    const std::size_t body_bytes = std::min(bytes, partial_->header.payload_bytes - partial_bytes_);
    partial_bytes_ += body_bytes;
    bytes -= body_bytes;
    if (partial_bytes_ < partial_->header.payload_bytes) return std::nullopt;
    arrived.push_back(std::exchange(partial_, nullptr));
  }
  const bool all_looked_at = bytes == std::min(look_bytes_, buffer_bytes - end_);
  end_ += bytes;
  NACRE_ASSERT(end_ <= buffer_bytes, "no more bytes than there was space for");
  failed_ = parse(arrived);
  if (partial_ != nullptr) {
    look_bytes_ = short_look_bytes;
  } else if (all_looked_at) {
    look_bytes_ = std::min(8 * look_bytes_, buffer_bytes);
  }
  return failed_;
}

std::optional<frame_error> frame_reader::parse(message_list& arrived) {
  while (end_ - begin_ >= header_bytes) {
    if (ended_) return frame_error::bytes_after_shutdown;
    message_header header;
    std::memcpy(&header, buffer_.get() + begin_, header_bytes);
    if (const auto error = check_header(header, limits_)) return error;
    if (header.kind == shutdown_kind) {
      ended_ = true;
      begin_ += header_bytes;
      continue;
    }
    if (end_ - begin_ < header_bytes + header.payload_bytes) {
      if (header.payload_bytes >= direct_bytes_min) begin_direct(header);
      break;
    }
    message_ptr m = make_message(header.payload_bytes);
    std::memcpy(m->body() - header_bytes, buffer_.get() + begin_, header_bytes + header.payload_bytes);
    begin_ += header_bytes + header.payload_bytes;
    arrived.push_back(std::move(m));
  }
  if (ended_ && begin_ != end_) return frame_error::bytes_after_shutdown;
  if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::nullopt;
}

void frame_reader::begin_direct(const message_header& header) {
  partial_ = make_message(header.payload_bytes);
  partial_->header = header;
  partial_bytes_ = end_ - begin_ - header_bytes;
  std::memcpy(partial_->body(), buffer_.get() + begin_ + header_bytes, partial_bytes_);
  begin_ = end_ = 0;
}

}  // namespace nacre::transport::tcp
