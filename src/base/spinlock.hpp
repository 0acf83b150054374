// SPDX-License-Identifier: Apache-2.0
// A spinlock for short critical sections that are rarely contended.
#pragma once

#include <atomic>

#include "base/spin.hpp"

namespace nacre {

/// Cheaper than a mutex when it is free. A thread that finds it taken spins, and soon yields the core. For
/// std::scoped_lock.
class spinlock {
 public:
  void lock() noexcept {
    for (backoff waiting; !try_lock(); waiting.pause()) continue;
  }
  [[nodiscard]] bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }  // pairs: unlock
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }  // pairs: try_lock

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace nacre
