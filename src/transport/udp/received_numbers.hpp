// SPDX-License-Identifier: Apache-2.0
// The numbers of the datagrams that have arrived: rejects replays, and says what to acknowledge.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/udp/datagram.hpp"

namespace nacre::transport::udp {

/// Invariant: a number is accepted at most once. It holds because every accepted number lies in one of the ranges or
/// below `floor_`, and neither ever loses a number. A number that was never received may come to lie below the floor;
/// its datagram counts as lost then, and its bytes travel again under another number.
class received_numbers {
 public:
  /// Whether `number` is new. Remembers it then.
  [[nodiscard]] bool accept(std::uint64_t number) noexcept;
  /// Whether `number` would be accepted.
  [[nodiscard]] bool is_new(std::uint64_t number) const noexcept;

  /// The ranges of received numbers, newest first.
  [[nodiscard]] const ack_ranges& ranges() const noexcept { return ranges_; }
  [[nodiscard]] bool empty() const noexcept { return ranges_.count == 0; }
  /// One above the newest received number; 0: none.
  [[nodiscard]] std::uint64_t end() const noexcept { return empty() ? 0 : ranges_.each[0].end; }

 private:
  void insert(std::size_t place, number_range number_range) noexcept;
  void remove(std::size_t place) noexcept;

  ack_ranges ranges_;        // newest first; two neighbours never touch
  std::uint64_t floor_ = 0;  // lower numbers count as received
};

}  // namespace nacre::transport::udp
