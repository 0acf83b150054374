// SPDX-License-Identifier: Apache-2.0
// Messages to one object that wait at the rank that sends them, until the object clears them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <nacre/message.hpp>

#include "mobile/entry/source_windows.hpp"

namespace nacre {

/// The source's side of docs/protocols/backlog.md. Not thread-safe: see source_queues.
///
/// `limit`: messages before that number are cleared, and never wait. `end`: the object has been told of the messages
/// before that number.
///
/// | state | a message to the object | clear to send, up to n |
/// |---|---|---|
/// | waits: nothing cleared, or limit < end | waits, unless it is before limit | limit = n; sends those before it |
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
  [[nodiscard]] bool over() const noexcept { return size() == 0 && asked_ && cleared_ && !is_before(limit_, end_); }
  [[nodiscard]] std::size_t size() const noexcept { return in_sequence_.size() + others_.size(); }
  /// Takes all messages, in sequence.
  [[nodiscard]] message_list take_all();

 private:
  [[nodiscard]] const message* first() const noexcept;
  [[nodiscard]] message_ptr pop_first();

  // Nearly all messages come in sequence, so that each takes constant time, however many wait.
  message_list in_sequence_;
  std::uint32_t last_ = 0;           // number of the last one in in_sequence_, if there is one
  std::vector<message_ptr> others_;  // a heap, the first message in front
  std::uint32_t limit_ = 0, end_ = 0;
  bool cleared_ = false, asked_ = false;  // whether limit_ and end_ mean anything
};

}  // namespace nacre
