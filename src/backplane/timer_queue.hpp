// SPDX-License-Identifier: Apache-2.0
// The timers of handlers and mains of a rank: any thread sets and removes them, the poll loop fires them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "backplane/timer_heap.hpp"

namespace nacre {

/// One-shot timers of one rank. Times are on the rank's clock.
///
/// A timer that is set is a *unit* for quiescence, because it can make user code go on: it counts as created when it is
/// set, and as done when it has fired or has been removed.
///
/// | state | set | remove | due, and the poll loop comes |
/// |---|---|---|---|
/// | unset | set, created | says false | - |
/// | set | aborts | unset, done; says true | firing |
/// | firing | set, created | says false | - |
///
/// A timer leaves the state firing when `fire` returns, or ends it by setting it again or by ending its own life. A
/// caller to whom remove says false knows that fire has been called, or is certain to be.
class timer_queue {
 public:
  using instant = timer_heap::instant;

  /// Fires `added` once at `due` or later. Returns true when it is the earliest of all, so that a poll loop that sleeps
  /// must be woken. Any thread. When it throws, for want of memory, nothing has changed.
  [[nodiscard]] bool set(timer& added, instant due);
  /// Takes a timer back. True: it will not fire, and belongs to the caller alone. Any thread.
  bool remove(timer& gone) noexcept;

  /// When the earliest is due; instant::max() when there is none. Any thread.
  [[nodiscard]] instant due() const noexcept { return instant(due_ns_.load()); }  // seq_cst: see thread_pool
  /// Fires timers that are due at `now`, at most fired_max of them: the others keep the poll loop from sleeping, and
  /// come after the messages that have arrived meanwhile. True when one has fired. Inside the poll loop.
  bool run(thread_context& thread, instant now);

  /// The units that have been set, and those of them that have fired or been removed. Read `done` first. Any thread.
  [[nodiscard]] std::uint64_t created() const noexcept { return created_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Whether a unit is set. Any thread.
  [[nodiscard]] bool pending() const noexcept {
    const std::uint64_t ended = done();
    return created() != ended;
  }

 private:
  static constexpr int fired_max = 256;

  [[nodiscard]] timer* take_due(instant now) noexcept;
  void publish_due() noexcept { due_ns_.store(heap_.due().count()); }

  std::mutex mutex_;
  timer_heap heap_;                                           // under mutex_
  std::atomic<std::int64_t> due_ns_{instant::max().count()};  // written under mutex_
  std::atomic<std::uint64_t> created_{0}, done_{0};           // release: pairs with the acquire of their readers
};

}  // namespace nacre
