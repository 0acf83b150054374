// SPDX-License-Identifier: Apache-2.0
// A ring of slots in shared memory, by hand: one writer, one reader, both poll.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace ladder {

inline constexpr std::size_t line = 64;
inline constexpr std::size_t piece_max = 16384;
using counter = std::atomic<std::uint64_t>;
static_assert(counter::is_always_lock_free);

/// One direction: a line for the receiver's count, then the slots; each begins with a stamp, behind which the piece is.
class ring {
 public:
  ring(std::byte* position, std::size_t message_bytes)
      : stride_((sizeof(counter) + std::min(message_bytes, piece_max) + line - 1) / line * line),
        slots_(slots_for(message_bytes)),
        taken_(new (position) counter(0)),
        first_(position + line) {}
  static std::size_t slots_for(std::size_t message_bytes) { return message_bytes <= 1024 ? 256 : 16; }
  static std::size_t size_for(std::size_t message_bytes) {
    return line + slots_for(message_bytes) * (std::min(message_bytes, piece_max) + 2 * line);
  }

  void put(const char* source, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += piece_max) {
      while (next_ - known_taken_ == slots_) known_taken_ = taken_->load(std::memory_order_acquire);  // pairs with take
      std::byte* slot = first_ + next_ % slots_ * stride_;
      std::memcpy(slot + sizeof(counter), source + done, std::min(piece_max, bytes - done));
      stamp(slot).store(++next_, std::memory_order_release);  // pairs with the load in take
    }
  }
  void take(char* target, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += piece_max) {
      std::byte* slot = first_ + next_ % slots_ * stride_;
      ++next_;
      while (stamp(slot).load(std::memory_order_acquire) != next_) continue;  // pairs with the store in put
      std::memcpy(target + done, slot + sizeof(counter), std::min(piece_max, bytes - done));
      // Told now and then, as the line goes back and forth for it. Pairs with the load in put.
      if (next_ % (slots_ / 8) == 0) taken_->store(next_, std::memory_order_release);
    }
  }

 private:
  static counter& stamp(std::byte* slot) { return *reinterpret_cast<counter*>(slot); }
  std::size_t stride_, slots_;
  counter* taken_;
  std::byte* first_;
  std::uint64_t next_ = 0, known_taken_ = 0;
};

}  // namespace ladder
