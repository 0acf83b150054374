// SPDX-License-Identifier: Apache-2.0
// A wait of main that ends with a result or by a timer, whichever comes first.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include <nacre/future.hpp>

#include "backplane/timer_heap.hpp"
#include "runtime/engine.hpp"

namespace nacre {

/// It lives on main's stack, so the notifier and the timer each say when they have left it.
class timed_wait final : private detail::waiter, private timer {
 public:
  timed_wait() noexcept : waiter{&on_result}, timer(&on_due) {}

  /// Waits for the result. `set(timer&)` sets the timer that ends the wait, or says false where there is none.
  /// `take_back(timer&)` takes it back; false: it fires, or has fired. Returns whether the result is there.
  template <class Set, class TakeBack>
  [[nodiscard]] bool run(engine& core, thread_context& thread, quiescence::main_wait main_wait,
                         detail::future_state& state, Set set, TakeBack take_back) {
    bool awaits = false, timed = false;
    core.wait_as_application(thread, main_wait, [&](std::function<void(thread_context&)> end) {
      end_ = std::move(end);
      awaits = state.await(*this);
      if (!awaits) return finish(thread);
      timed = set(static_cast<timer&>(*this));
    });
    // Another thread may still be in one of the two calls that end the wait.
    if (timed && !take_back(static_cast<timer&>(*this))) wait_to_leave(timer_left_);
    if (!awaits) return true;
    if (state.withdraw()) return false;
    wait_to_leave(notifier_left_);
    return true;
  }

 private:
  void finish(thread_context& thread) {
    if (!finished_.test_and_set()) end_(thread);
  }
  static void on_result(detail::waiter& self, thread_context& thread) {
    auto& own_timed_wait = static_cast<timed_wait&>(self);
    own_timed_wait.finish(thread);
    own_timed_wait.notifier_left_.store(true);
  }
  static void on_due(timer& self, thread_context& thread) {
    auto& own_timed_wait = static_cast<timed_wait&>(self);
    own_timed_wait.finish(thread);
    own_timed_wait.timer_left_.store(true);
  }
  /// The other thread has woken this one already, and needs a few more instructions to leave.
  static void wait_to_leave(const std::atomic<bool>& left) {
    while (!left) std::this_thread::yield();
  }

  std::function<void(thread_context&)> end_;
  std::atomic_flag finished_;
  std::atomic<bool> notifier_left_{false}, timer_left_{false};
};

}  // namespace nacre
