// SPDX-License-Identifier: Apache-2.0
// The queue of bytes that wait to be written to one peer.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>

#include <nacre/message.hpp>

#include "transport/tcp/chunk_pool.hpp"

struct iovec;

namespace nacre::transport::tcp {

/// A byte queue made of messages. Short messages are copied one after the other, so that many leave in one buffer. Long
/// ones are written from their own blocks and released afterwards. Does no I/O. The caller bounds the queue by `bytes`.
/// One thread.
class send_queue {
 public:
  /// Messages with a longer frame than this are not copied.
  static constexpr std::size_t copy_bytes_max = 8 * 1024;

  /// `chunks` outlives the queue.
  explicit send_queue(chunk_pool& chunks) noexcept : pool_(chunks) {}
  ~send_queue() { clear(); }
  send_queue(const send_queue&) = delete;
  send_queue& operator=(const send_queue&) = delete;

  /// Appends the frame of a packed message without its first `written` bytes. Takes ownership of the message.
  void push(message_ptr m, std::size_t written = 0);
  /// Appends a copy of at most copy_bytes_max bytes.
  void push(std::span<const std::byte> bytes);

  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }
  /// Bytes that have not been written yet.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Fills `buffers` with the front of the queue and returns the number that it has filled. Valid until the next
  /// change.
  [[nodiscard]] std::size_t front(std::span<iovec> buffers) const noexcept;
  /// Removes the first `count` bytes, which have been written.
  void written(std::size_t count) noexcept;
  void clear() noexcept;

 private:
  /// Memory for copies. A chunk that is all written goes back to the pool.
  struct chunk {
    chunk_pool::chunk memory;  // null: the only chunk, and all written
    std::size_t used = 0;
    std::size_t unwritten = 0;
  };
  /// Consecutive bytes: of one message, or of a chunk. A run of a chunk reaches the front when its chunk is the oldest.
  struct run {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    message_ptr owner;  // null: the bytes are in a chunk
  };

  [[nodiscard]] chunk& chunk_with_room(std::size_t bytes);
  void written_of_chunk(std::size_t count) noexcept;

  chunk_pool& pool_;
  std::deque<run> runs_;
  std::deque<chunk> chunks_;
  std::size_t bytes_ = 0;
};

}  // namespace nacre::transport::tcp
