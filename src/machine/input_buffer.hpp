// SPDX-License-Identifier: Apache-2.0
// The input buffer of a node: messages that wait for a thread, and those that the full buffer keeps in the network.
#pragma once

#include <cstdint>

namespace nacre::machine {

/// Counts the messages that wait, in any unit: packets of the emulator, bytes of simulated ranks. A message that finds
/// the buffer full waits in the network, where the owner of the buffer keeps it, and enters later in the order of its
/// arrival. So one that comes meanwhile waits behind it, even if there is room.
class input_buffer {
 public:
  /// Whether a message that comes now has to wait in the network. `limit` 0: the buffer has room for all.
  [[nodiscard]] bool is_closed(std::uint64_t limit) const noexcept {
    return limit != 0 && (waiting_ >= limit || held_back_ != 0);
  }
  /// Whether the first of those in the network may enter.
  [[nodiscard]] bool admits(std::uint64_t limit) const noexcept { return held_back_ != 0 && waiting_ < limit; }

  void hold_back() noexcept { ++held_back_; }
  /// The first of those in the network enters, or goes past the buffer: call `enter` besides if it waits there.
  void let_in() noexcept { --held_back_; }
  void enter(std::uint64_t amount) noexcept { waiting_ += amount; }
  void leave(std::uint64_t amount) noexcept { waiting_ -= amount; }

  [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }
  /// How many wait in the network.
  [[nodiscard]] std::uint64_t held_back() const noexcept { return held_back_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(waiting_, held_back_);
  }

 private:
  std::uint64_t waiting_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace nacre::machine
