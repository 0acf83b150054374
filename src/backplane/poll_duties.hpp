// SPDX-License-Identifier: Apache-2.0
// What the poll loop of a rank does beside moving messages: timers, hooks, and taking what a transport does not keep.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "backplane/repeated_timers.hpp"
#include "backplane/timer_queue.hpp"
#include "base/clock.hpp"

namespace nacre {

/// Duties are added before the first poll. What runs them is called under the poll lock.
class poll_duties {
 public:
  using hook = std::function<std::chrono::nanoseconds(thread_context&)>;
  using taker = std::function<void(thread_context&)>;

  explicit poll_duties(clock& time) noexcept : time_(time) {}

  /// Runs `action` inside the poll loop after `first`, and then each time after the interval that it returns.
  void add_timer(std::chrono::nanoseconds first, repeated_timers::action action) {
    ticks_.add(time_.now() + first, std::move(action));
    ticks_due_ = ticks_.due();
  }
  /// Runs `action` at every thorough poll; it must be cheap. It returns when, on the clock, the next poll is needed at
  /// the latest; nanoseconds::max() when it can wait until something moves.
  void add_hook(hook action) { hooks_.push_back(std::move(action)); }
  /// Runs `action` at every poll that is thorough or has moved something, before the hooks: it takes what the transport
  /// keeps until the next poll only.
  void add_taker(taker action) { takers_.push_back(std::move(action)); }

  /// The timers of handlers and mains, beside those of add_timer. A thread that sets one wakes the poll loop where that
  /// may sleep: see worker_pool::set_timer.
  [[nodiscard]] timer_queue& timers() noexcept { return timers_; }

  /// When the next timer or hook is due; nanoseconds::max() when none is. Any thread.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept { return std::min(ticks_due(), timers_.due()); }
  /// As due, of hooks and the timers of add_timer only.
  [[nodiscard]] std::chrono::nanoseconds ticks_due() const noexcept {
    return ticks_due_.load(std::memory_order_acquire);  // pairs with run_hooks
  }
  /// The present on the rank's clock.
  [[nodiscard]] std::chrono::nanoseconds now() const { return time_.now(); }

  void take(thread_context& thread) const {
    for (const taker& each : takers_) each(thread);
  }
  /// Runs the timers that are due. True when one of a handler or main was, so that something has happened.
  bool run_timers(thread_context& thread);
  /// `other_due`: when the poll loop is needed next for another reason.
  void run_hooks(thread_context& thread, std::chrono::nanoseconds other_due);

 private:
  clock& time_;
  repeated_timers ticks_;
  timer_queue timers_;
  std::vector<hook> hooks_;
  std::vector<taker> takers_;
  std::atomic<std::chrono::nanoseconds> ticks_due_{std::chrono::nanoseconds::max()};  // written under the poll lock
};

}  // namespace nacre
