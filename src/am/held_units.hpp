// SPDX-License-Identifier: Apache-2.0
// Units of work that lie at their objects while an image is taken: what the object layer holds, and waves count.
#pragma once

#include <atomic>
#include <cstdint>

namespace nacre {

/// Of one rank. The object layer writes, with a lock of its own; any thread reads.
///
/// While the hold is on, objects admit messages and run none. `lying` is the number of counted messages that have been
/// admitted in this way and have not been taken up again. `taken_up` only grows: it counts activations that have begun
/// during holds, each of which may change `lying`.
class held_units {
 public:
  [[nodiscard]] bool on() const noexcept { return on_.load(std::memory_order_relaxed); }  // a hint; the lock decides
  [[nodiscard]] std::uint64_t lying() const noexcept { return lying_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t taken_up() const noexcept { return taken_up_.load(std::memory_order_acquire); }

 private:
  friend class object_hold;
  std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> lying_{0}, taken_up_{0};  // release: pairs with the acquire of their readers
};

}  // namespace nacre
