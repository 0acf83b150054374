// SPDX-License-Identifier: Apache-2.0
// Remembers when the last message of each stream arrives, as long as that lies ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::machine {

/// For each stream of messages (a number that the caller chooses) the arrival of its youngest message, so that the next
/// one is not earlier. An entry whose time has passed restrains nobody and is dropped when room is needed: memory
/// follows the streams that have something in flight, not the pairs of ranks that ever spoke. Open addressing with
/// linear probing.
class stream_order {
 public:
  stream_order();

  /// The time at which the next message of `stream` arrives when it could at `wanted`: then, or one unit behind its
  /// predecessor. `present` never goes back and is at or before every `wanted` that is still to come.
  [[nodiscard]] std::int64_t next(std::uint64_t stream, std::int64_t wanted, std::int64_t present);

  /// Streams remembered, dead entries included.
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
