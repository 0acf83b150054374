// SPDX-License-Identifier: Apache-2.0
// A lock for code of nanoseconds that hardly ever meets anybody.
#pragma once

#include <atomic>

#include "base/spin.hpp"

namespace nacre::transport::ucx {

/// Cheaper than a mutex when it is free. Whoever finds it taken spins, soon yielding the core. A std::scoped_lock takes
/// it.
class turn {
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
