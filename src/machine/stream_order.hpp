// SPDX-License-Identifier: Apache-2.0
// Remembers when the last message of each stream arrives, as long as that time is still to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::machine {

/// Keeps messages of one stream in order: it records the arrival of each stream's youngest message, so that the next
/// one is not earlier. The caller chooses the number of a stream. An entry that lies in the past delays no message, and
/// is dropped when room is needed. So memory grows with the streams that have messages in flight, not with the pairs of
/// ranks that have ever communicated. Open addressing with linear probing.
class stream_order {
 public:
  stream_order();

  /// Returns the time at which the next message of `stream` arrives: `wanted`, or one unit after its predecessor if
  /// that is later. `present` never goes back and is at or before every `wanted` that is still to come.
  [[nodiscard]] std::int64_t next(std::uint64_t stream, std::int64_t wanted, std::int64_t present);

  /// Returns the number of streams in the table, past entries included.
  [[nodiscard]] std::size_t size() const noexcept { return used_; }

 private:
  struct entry {
    std::uint64_t stream = 0;
    std::int64_t last = -1;  // -1: empty
  };

  [[nodiscard]] entry& find(std::uint64_t stream) noexcept;
  void make_room(std::int64_t present);

  std::vector<entry> entries_;  // a power of two
  std::size_t used_ = 0;
};

}  // namespace nacre::machine
