// SPDX-License-Identifier: Apache-2.0
// The framing of messages in a byte stream between two ranks, and the checks of arriving frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <nacre/message.hpp>

#include "wire/header_check.hpp"

namespace nacre::transport::tcp {

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

/// Cuts the byte stream of one peer into messages. Does no I/O: the caller reads into `space`, then calls `filled`.
///
/// | state | bytes arrive | next |
/// |---|---|---|
/// | in the buffer | whole frames become messages; the rest of a short one moves to the front | in the buffer |
/// | in the buffer | the header of a frame with a large payload | in a message |
/// | in a message | some of its payload | in a message |
/// | in a message | the rest of its payload; further bytes go to the buffer | in the buffer |
/// | any | a shutdown, the last bytes | ended |
/// | any | a header that check_header rejects, or bytes after a shutdown | failed, for ever |
///
/// The reader adapts how many bytes it reads ahead into the buffer. After a large frame it reads little more than the
/// next header, so that the next large payload does not pass through the buffer. It reads further again when those
/// bytes were all small frames.
///
/// Invariant: at most one frame is unfinished, and in the buffer it is shorter than `direct_bytes_min` and a header.
/// The reader trusts a header's payload_bytes up to payload_bytes_max and allocates as much, so it must serve
/// authenticated peers only. One thread.
class frame_reader {
 public:
  /// From this size on, an incomplete payload is read into its message block, not into the buffer.
  static constexpr std::size_t direct_bytes_min = 16 * 1024;
  static constexpr std::size_t buffer_bytes = 64 * 1024;
  static constexpr std::size_t short_look_bytes = 1024;

  explicit frame_reader(const frame_limits& limits) : limits_(limits) {}

  /// The memory for the next bytes: first `first`, then `second`, which may be empty. Valid until the next call.
  struct places {
    std::span<std::byte> first;
    std::span<std::byte> second;
  };
  [[nodiscard]] places space() {
    if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    const std::span<std::byte> buffer(buffer_.get() + end_, std::min(look_bytes_, buffer_bytes - end_));
    if (partial_ == nullptr) return {buffer, {}};
    return {{partial_->body() + partial_bytes_, partial_->header.payload_bytes - partial_bytes_}, buffer};
  }

  /// Parses `bytes` more bytes, which the caller has read into `space`. Appends the complete messages, also those
  /// before an error. Returns the error, if any.
  [[nodiscard]] std::optional<frame_error> filled(std::size_t bytes, message_list& arrived);

  /// Whether the shutdown of the peer has arrived.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Whether a frame is unfinished, so that the end of the stream would cut it.
  [[nodiscard]] bool within_frame() const noexcept { return partial_ != nullptr || begin_ != end_; }

 private:
  [[nodiscard]] std::optional<frame_error> parse(message_list& arrived);
  void begin_direct(const message_header& header);

  frame_limits limits_;
  std::unique_ptr<std::byte[]> buffer_;  // made by the first `space`: a silent peer has none
  std::size_t begin_ = 0;                // unparsed bytes of the buffer
  std::size_t end_ = 0;
  std::size_t look_bytes_ = buffer_bytes;
  message_ptr partial_;            // the message with the unfinished payload
  std::size_t partial_bytes_ = 0;  // of its payload, so far
  bool ended_ = false;
  std::optional<frame_error> failed_;
};

}  // namespace nacre::transport::tcp
