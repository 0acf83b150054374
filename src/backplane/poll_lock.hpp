// SPDX-License-Identifier: Apache-2.0
// The lock of the thread that polls.
#pragma once

#include <atomic>

namespace nacre {

/// Nobody waits for it: a thread that does not get it leaves its work to the one that has it.
class poll_lock {
 public:
  /// Tests first, so that waiting threads do not take the cache line from the thread that has the lock.
  [[nodiscard]] bool try_lock() noexcept {
    return !taken_.test(std::memory_order_relaxed) &&        // a hint
           !taken_.test_and_set(std::memory_order_acquire);  // pairs with unlock
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }  // pairs with the next test_and_set

 private:
  std::atomic_flag taken_;
};

}  // namespace nacre
