// SPDX-License-Identifier: Apache-2.0
// A spinlock for critical sections of nanoseconds that are rarely contended.
#pragma once

#include <atomic>

#include "base/spin.hpp"

namespace nacre::transport::ucx {

/// Cheaper than a mutex when it is free. A thread that finds it taken spins, and soon yields the core. For
/// std::scoped_lock.
class spinlock {
 public:
  void lock() noexcept {
    for (backoff waiting; !try_lock(); waiting.pause()) continue;
  }
  bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }  // pairs with unlock
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }              // pairs with try_lock

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace nacre::transport::ucx
