// SPDX-License-Identifier: Apache-2.0
// The part that an object takes in colocations: its blocked streams, and the colocation that holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

/// Names a colocation: the initiator's rank, and the number there, which is 0 for none.
struct colocation_name {
  std::uint32_t rank = 0;
  std::uint64_t number = 0;
  friend bool operator==(const colocation_name&, const colocation_name&) = default;
};

/// A stream is blocked from the moment its `join` comes to the front until the colocation has ended; streams of other
/// ranks go on. Moves with the object; belongs to its activation.
///
/// | stream | a message comes to the front | a join comes to the front | the colocation ends |
/// |---|---|---|---|
/// | goes on | runs | blocked | - |
/// | blocked | waits behind | waits behind | waiting ones come to the front, up to the next join: passes |
/// | passes | runs | blocked again | - |
class participation {
 public:
  struct held_stream {
    std::uint32_t source = 0;
    message_ptr join;  ///< null while the stream passes: the join is then among the messages in front
    message_list followers;
  };

  /// Blocks a stream: its join is at the front.
  void hold(message_ptr join);
  /// Moves the front of `pending` behind a join if its stream is blocked; returns whether it did.
  [[nodiscard]] bool defer_front(message_list& pending);
  [[nodiscard]] bool holds(const colocation_name& name) const noexcept { return find(name) < held_.size(); }
  /// Whether the stream of that rank is blocked.
  [[nodiscard]] bool is_blocked(std::uint32_t source) const noexcept;
  /// Whether the stream of that rank passes: a part of it is in front, and a part here.
  [[nodiscard]] bool passes(std::uint32_t source) const noexcept;
  /// Calls visit(message_list&) for the messages behind a join, of each stream.
  template <class Visit>
  void for_each_behind(const Visit& visit) {
    for (held_stream& each : held_) visit(each.followers);
  }
  /// Unblocks the stream of a colocation that has ended, before all that is pending. Returns the join.
  [[nodiscard]] message_ptr resume(const colocation_name& name, message_list& pending);

  /// The colocation that holds the object, which stays where it is and runs nothing else.
  colocation_name acquired_by;

  [[nodiscard]] bool idle() const noexcept { return held_.empty() && acquired_by.number == 0; }
  /// Unblocks all streams of a destroyed object, each in its order, among the pending messages. Returns the joins of
  /// the blocked streams.
  [[nodiscard]] std::vector<message_ptr> dissolve(message_list& pending);
  [[nodiscard]] std::size_t stream_count() const noexcept { return held_.size(); }
  /// Calls visit(held_stream&) for each; it may replace messages, each by one with the same header.
  template <class Visit>
  void for_each_stream(const Visit& visit) {
    for (held_stream& each : held_) visit(each);
  }
  /// Takes a stream back; false when it is not valid.
  [[nodiscard]] bool put_back(held_stream stream);

 private:
  [[nodiscard]] std::size_t find(const colocation_name& name) const noexcept;
  std::vector<held_stream> held_;  // few, each of another source
};

}  // namespace nacre
