// SPDX-License-Identifier: Apache-2.0
// The part that an object takes in colocations: streams that stand still for one, and the one that holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

namespace nacre {

/// Names a colocation: the rank that asked for it, and the number there, which is 0 for none.
struct colocation_name {
  std::uint32_t rank = 0;
  std::uint64_t number = 0;
  friend bool operator==(const colocation_name&, const colocation_name&) = default;
};

/// Streams of which a `join` has had its turn stand still, while those of other ranks go on, until the colocation has
/// ended. Moves with the object; belongs to its activation.
///
/// | stream | a message has its turn | a join has its turn | the colocation ends |
/// |---|---|---|---|
/// | goes on | runs | stands still | - |
/// | stands still | waits behind | waits behind | what is behind comes to the front, up to the next join: passes |
/// | passes | runs: it comes from the front | stands still again | - |
class participation {
 public:
  struct held_stream {
    std::uint32_t source = 0;
    message_ptr join;  ///< null while the stream passes: it is one of the messages in front
    message_list behind;
  };

  /// A join has had its turn.
  void hold(message_ptr join);
  /// Whether the front of `pending` has to wait behind a join; then it does.
  [[nodiscard]] bool keep_back(message_list& pending);
  [[nodiscard]] bool holds(const colocation_name& name) const noexcept { return find(name) < held_.size(); }
  /// Whether what comes from that rank has to wait behind a join.
  [[nodiscard]] bool stands_still(std::uint32_t source) const noexcept;
  /// Whether the stream of that rank has gone on, and lies in front and here.
  [[nodiscard]] bool passes(std::uint32_t source) const noexcept;
  /// Calls visit(message_list&) for what waits behind a join, of each stream.
  template <class Visit>
  void for_each_behind(const Visit& visit) {
    for (held_stream& each : held_) visit(each.behind);
  }
  /// The colocation has ended: its stream goes on, before all that is pending. Returns the join.
  [[nodiscard]] message_ptr resume(const colocation_name& name, message_list& pending);

  /// The colocation that has the object for itself: it stays where it is and runs nothing else.
  colocation_name seized_by;

  [[nodiscard]] bool idle() const noexcept { return held_.empty() && seized_by.number == 0; }
  /// The object is destroyed: its streams go on, each in its order, among what is pending. Returns the joins whose
  /// streams stood still.
  [[nodiscard]] std::vector<message_ptr> dissolve(message_list& pending);
  /// Gives up all streams: the object is packed.
  [[nodiscard]] std::vector<held_stream> take_all() noexcept { return std::exchange(held_, {}); }
  /// Takes one back; false when it cannot be one.
  [[nodiscard]] bool put_back(held_stream stream);

 private:
  [[nodiscard]] std::size_t find(const colocation_name& name) const noexcept;
  std::vector<held_stream> held_;  // few, each of another source
};

}  // namespace nacre
