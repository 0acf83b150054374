// SPDX-License-Identifier: Apache-2.0
// Setting, removing and firing the timers of a rank.
#include "backplane/timer_queue.hpp"

namespace nacre {

bool timer_queue::set(timer& added, instant due) {
  const std::scoped_lock lock(mutex_);
  const instant previous = heap_.due();
  heap_.set(added, due);
  created_.fetch_add(1, std::memory_order_release);  // before anything that the caller does next; see `created`
  publish_due();
  return due < previous;
}

bool timer_queue::remove(timer& gone) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!heap_.remove(gone)) return false;
  publish_due();
  done_.fetch_add(1, std::memory_order_release);  // see `done`
  return true;
}

timer* timer_queue::take_due(instant now) noexcept {
  const std::scoped_lock lock(mutex_);
  timer* const next = heap_.take_due(now);
  publish_due();
  return next;
}

bool timer_queue::run(thread_context& thread, instant now) {
  bool fired = false;
  for (int count = 0; count < fired_max && due() <= now; ++count) {
    timer* const next = take_due(now);
    if (next == nullptr) break;                     // another thread has removed it
    next->fire(thread);                             // may end its life
    done_.fetch_add(1, std::memory_order_release);  // after all that it has started; see `done`
    fired = true;
  }
  return fired;
}

}  // namespace nacre
