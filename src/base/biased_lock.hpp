// SPDX-License-Identifier: Apache-2.0
// A lock for what one thread uses all the time, and others now and then.
#pragma once

#include <atomic>

#include <nacre/assert.hpp>

#include "base/asymmetric_fence.hpp"
#include "base/spin.hpp"
#include "base/spinlock.hpp"

namespace nacre {

/// A spinlock that its owner takes without a read-modify-write: two stores and a load of its own cache line. Another
/// thread pays with a system call. Sections take some tens of nanoseconds; not recursive. Who the owner is may change,
/// if the change itself orders the two threads.
///
/// | the owner | another thread |
/// |---|---|
/// | says that it is in | says that it wants |
/// | light fence | heavy fence |
/// | if another wants: says that it is out, waits until none wants, begins again | waits until the owner is out |
///
/// Why this excludes: by the fences at least one of the two sees the other, and the owner gives way.
class biased_lock {
 public:
  void lock_as_owner() noexcept {
    // relaxed: written by the owner alone.
    NACRE_ASSERT(!owner_in_.load(std::memory_order_relaxed), "a biased lock was taken by two owners, or twice by one");
    owner_in_.store(true, std::memory_order_relaxed);
    asymmetric_fence::light();  // pairs with the heavy one in `lock`
    if (wanted_.load(std::memory_order_acquire)) [[unlikely]]
      give_way();  // pairs with `unlock`
  }
  void unlock_as_owner() noexcept { owner_in_.store(false, std::memory_order_release); }  // pairs with `lock`

  /// Any thread but the owner.
  void lock() noexcept {
    others_.lock();
    wanted_.store(true, std::memory_order_relaxed);
    asymmetric_fence::heavy();  // pairs with the light ones
    for (backoff waiting; owner_in_.load(std::memory_order_acquire); waiting.pause()) continue;  // unlock_as_owner
  }
  void unlock() noexcept {
    wanted_.store(false, std::memory_order_release);  // pairs with lock_as_owner
    others_.unlock();
  }

  /// Holds the lock for its owner, for the length of a scope.
  class owner_guard {
   public:
    explicit owner_guard(biased_lock& biased_lock) noexcept : lock_(biased_lock) { lock_.lock_as_owner(); }
    owner_guard(const owner_guard&) = delete;
    owner_guard& operator=(const owner_guard&) = delete;
    ~owner_guard() { lock_.unlock_as_owner(); }

   private:
    biased_lock& lock_;
  };

 private:
  [[gnu::noinline]] void give_way() noexcept {
    do {
      owner_in_.store(false, std::memory_order_release);                                         // pairs with `lock`
      for (backoff waiting; wanted_.load(std::memory_order_relaxed); waiting.pause()) continue;  // looks again below
      owner_in_.store(true, std::memory_order_relaxed);
      asymmetric_fence::light();                        // pairs with the heavy one in `lock`
    } while (wanted_.load(std::memory_order_acquire));  // pairs with `unlock`
  }

  std::atomic<bool> owner_in_{false};
  std::atomic<bool> wanted_{false};
  spinlock others_;
};

}  // namespace nacre
