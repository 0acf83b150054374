// SPDX-License-Identifier: Apache-2.0
// The messages to one peer on one channel, as a stream of bytes, until the peer has acknowledged them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include <nacre/message.hpp>

namespace nacre::transport::udp {

/// A stretch of the bytes of a stream.
struct stretch {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// The sender's window, in bytes of the stream: `acknowledged_ <= next_ <= end_`, and `next_ <= acknowledged_ +
/// window_bytes`. Bytes below `acknowledged_` have arrived; those below `next_` have left at least once. A message is
/// kept until all of its bytes have arrived. Does no I/O. One thread.
class send_stream {
 public:
  /// The receiver keeps bytes that come early, so many of them at most.
  static constexpr std::uint64_t window_bytes = std::uint64_t{8} << 20;

  /// Appends the frame of a packed message. Takes ownership of it.
  void push(message_ptr m);
  /// Bytes that the peer has not acknowledged, and those that have not left.
  [[nodiscard]] std::uint64_t held_bytes() const noexcept { return end_ - acknowledged_; }
  /// Whether some bytes have never left.
  [[nodiscard]] bool unsent() const noexcept { return next_ != end_; }
  /// Whether `available` may be more than 0.
  [[nodiscard]] bool has_bytes() const noexcept { return next_ != end_ || !lost_.empty(); }
  [[nodiscard]] std::uint64_t acknowledged() const noexcept { return acknowledged_; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return next_; }

  /// How many bytes `take` would give now, `most` of them at most. 0: nothing is lost, and nothing may leave.
  [[nodiscard]] std::size_t available(std::size_t most);
  /// The next bytes to send, lost ones first, `most` of them at most: they leave now. Call it after `available`.
  stretch take(std::size_t most);
  /// Copies bytes that have been taken and have not arrived.
  void copy(stretch stretch, std::span<std::byte> target) const noexcept;
  /// Tells where such bytes lie until they arrive. Returns the number of places; 0: more than `blocks` has room for.
  [[nodiscard]] std::size_t places_of(stretch stretch, std::span<std::span<const std::byte>> blocks) const noexcept;

  void on_acknowledged(stretch stretch);
  /// The bytes must leave again, those excepted that have arrived since.
  void on_lost(stretch stretch) { lost_.push_back(stretch); }
  /// Releases all messages.
  void clear() noexcept;

 private:
  struct entry {
    std::uint64_t offset = 0;
    message_ptr m;
  };
  template <class OnPiece>
  void for_each_piece(stretch stretch, OnPiece on_piece) const noexcept;
  void advance_to(std::uint64_t offset) noexcept;
  void drop_arrived_losses() noexcept;

  std::deque<entry> messages_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, std::uint64_t>
      arrived_;  // stretches beyond acknowledged_: begin and end, apart from each other
  std::deque<stretch> lost_;
};

}  // namespace nacre::transport::udp
