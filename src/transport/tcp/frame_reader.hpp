// SPDX-License-Identifier: Apache-2.0
// Cuts the byte stream of a peer into messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <nacre/message.hpp>

#include "transport/frame.hpp"
#include "transport/tcp/chunk_pool.hpp"

namespace nacre::transport::tcp {

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
  static constexpr std::size_t buffer_bytes = chunk_pool::chunk_bytes;
  static constexpr std::size_t short_look_bytes = 1024;

  /// `chunks` outlives the reader.
  frame_reader(const frame_limits& limits, chunk_pool& chunks) : limits_(limits), pool_(chunks) {}
  frame_reader(const frame_reader&) = delete;
  frame_reader& operator=(const frame_reader&) = delete;
  ~frame_reader() {
    if (buffer_ != nullptr) pool_.give_back(std::move(buffer_));
  }

  /// The memory for the next bytes: first `first`, then `second`, which may be empty. Valid until the next call.
  struct places {
    std::span<std::byte> first;
    std::span<std::byte> second;
  };
  [[nodiscard]] places space() {
    if (buffer_ == nullptr) buffer_ = pool_.take();
    const std::span<std::byte> buffer(buffer_.get() + end_, std::min(look_bytes_, buffer_bytes - end_));
    if (partial_ == nullptr) return {buffer, {}};
    return {{partial_->body() + partial_bytes_, partial_->header.payload_bytes - partial_bytes_}, buffer};
  }

  /// Parses `bytes` more bytes, which the caller has read into `space`. Appends the complete messages, also those
  /// before an error. Returns the error, if any.
  [[nodiscard]] std::optional<frame_error> filled(std::size_t bytes, message_list& arrived);

  /// Gives the buffer back, if nothing is in it: no more bytes come now.
  void rest() noexcept {
    if (end_ == 0 && partial_ == nullptr && buffer_ != nullptr) pool_.give_back(std::move(buffer_));
  }

  /// Whether the shutdown of the peer has arrived.
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Whether a frame is unfinished, so that the end of the stream would cut it.
  [[nodiscard]] bool within_frame() const noexcept { return partial_ != nullptr || begin_ != end_; }

 private:
  [[nodiscard]] std::optional<frame_error> parse(message_list& arrived);
  void begin_direct(const message_header& header);

  frame_limits limits_;
  chunk_pool& pool_;
  chunk_pool::chunk buffer_;  // from `space` to `rest`: a silent peer has none
  std::size_t begin_ = 0;     // unparsed bytes of the buffer
  std::size_t end_ = 0;
  std::size_t look_bytes_ = buffer_bytes;
  message_ptr partial_;            // the message with the unfinished payload
  std::size_t partial_bytes_ = 0;  // of its payload, so far
  bool ended_ = false;
  std::optional<frame_error> failed_;
};

}  // namespace nacre::transport::tcp
