// SPDX-License-Identifier: Apache-2.0
// Messages to one object that wait at the rank that sends them, until the object clears them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <nacre/message.hpp>

#include "mobile/backlog/source_windows.hpp"

namespace nacre {

/// The source's side of docs/protocols/backlog.md. Not thread-safe: see source_queues.
///
/// `limit`: messages before that number are cleared, and never wait. `end`: the object has been told of the messages
/// before that number.
///
/// | state | a message to the object | clear to send, up to `to` |
/// |---|---|---|
/// | waits: nothing cleared, or limit < end | waits, unless it is before limit | limit = to; sends those before it |
/// | limit = end, messages wait | - | asks again: end = the next number |
/// | limit = end, none waits | - | over: messages are sent as they come |
class source_queue {
 public:
  /// Whether a message of that number need not wait.
  [[nodiscard]] bool is_cleared(std::uint32_t sequence) const noexcept {
    return cleared_ && is_before(sequence, limit_);
  }
  void put(message_ptr m);
  void clear(std::uint32_t limit) noexcept;
  /// The first message if it is cleared; else null.
  [[nodiscard]] message_ptr take();
  /// Returns `end` if the object must be asked now. `next`: the number of the next message.
  [[nodiscard]] std::optional<std::uint32_t> ask(std::uint32_t next) noexcept;
  /// Whether no message waits and no clearance is to come.
  [[nodiscard]] bool over() const noexcept {
    return waiting_.empty() && asked_ && cleared_ && !is_before(limit_, end_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  /// Takes all messages, in sequence.
  [[nodiscard]] message_list take_all();

 private:
  std::vector<message_ptr> waiting_;  // a heap, the first message in front; one that comes in sequence stays in its
                                      // position
  std::uint32_t limit_ = 0, end_ = 0;
  bool cleared_ = false, asked_ = false;  // whether limit_ and end_ mean anything
};

}  // namespace nacre
