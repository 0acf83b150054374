// SPDX-License-Identifier: Apache-2.0
// Access privileges of one object: any number of shared handlers, or one exclusive one.
#pragma once

#include <atomic>
#include <cstdint>

namespace nacre {

/// Counts the shared handlers that run on an object, and remembers that its activation waits for them.
///
/// Only the activation (one at a time, see inbox.hpp) lets handlers in, in the order of their messages, so a stream of
/// shared ones cannot starve an exclusive one. Shared handlers leave from any thread.
///
/// | state | enter_shared | try_exclusive | leave_shared |
/// |---|---|---|---|
/// | r = 0 | r = 1 | true | - |
/// | r > 0 | r + 1 | waits; false | r - 1 |
/// | r > 1, waits | - | - | r - 1 |
/// | r = 1, waits | - | - | r = 0; true: the caller now owns the activation and must let it go on |
class access_gate {
 public:
  void enter_shared() noexcept {
    readers_.fetch_add(1, std::memory_order_relaxed);  // the thread that starts the handler releases it later
  }
  /// acquire: pairs with the release in leave_shared, so that an exclusive handler sees the writes of shared ones.
  [[nodiscard]] bool try_exclusive() noexcept {
    if (readers_.load(std::memory_order_acquire) == 0) return true;
    if (readers_.fetch_or(waits, std::memory_order_acq_rel) != 0) return false;
    readers_.store(0, std::memory_order_relaxed);  // the last reader left in between; no other thread is here
    return true;
  }
  [[nodiscard]] bool leave_shared() noexcept {
    if (readers_.fetch_sub(1, std::memory_order_acq_rel) != (waits | 1)) return false;
    readers_.store(0, std::memory_order_relaxed);  // the activation waits: no other thread is here
    return true;
  }
  [[nodiscard]] bool idle() const noexcept { return readers_.load(std::memory_order_acquire) == 0; }

 private:
  static constexpr std::uint32_t waits = 1u << 31;
  std::atomic<std::uint32_t> readers_{0};
};

}  // namespace nacre
