// SPDX-License-Identifier: Apache-2.0
// Futures that are ready when a time is over.
#include <chrono>

#include <nacre/core.hpp>

#include "am/am_engine.hpp"
#include "backplane/timer_queue.hpp"
#include "base/forked_child.hpp"
#include "exec/worker_pool.hpp"

namespace nacre::detail {
namespace {

constexpr auto never = std::chrono::nanoseconds::max();

/// The state of a sleep. The timer holds a reference while it is set. A sleep without end has no timer, which would
/// count as work that is still to come: so a job that waits for nothing else is told to be deadlocked.
class sleep_state final : public future_value<void>, public timer {
 public:
  sleep_state(worker_pool& pool, std::chrono::nanoseconds due) noexcept : timer(&on_due), pool_(pool), due_(due) {}

  void begin() {
    if (due_ == never) return;
    acquire();
    try {
      pool_.set_timer(*this, due_);
    } catch (...) {
      release();
      throw;
    }
  }

 private:
  static void on_due(timer& self, thread_context& thread) {
    auto& state = static_cast<sleep_state&>(self);
    state.complete(thread);
    state.release();
  }
  void on_abandon() noexcept override {
    if (!outlives_job() && pool_.remove_timer(*this)) release();
  }
  bool give_up(thread_context& thread) override {
    const bool timed = pool_.remove_timer(*this);
    if (!timed && due_ != never) return true;  // it ends at this moment
    complete_with_error("the sleep was cancelled", thread);
    if (timed) release();
    return true;
  }

  worker_pool& pool_;
  const std::chrono::nanoseconds due_;
};

}  // namespace

future_value<void>* start_sleep(thread_context& thread, double seconds) {
  must_not_be_forked_child();
  check_seconds(seconds, "a sleep");
  auto* const state = new sleep_state(thread.pool(), thread.pool().instant_after(seconds));
  try {
    state->begin();
  } catch (...) {
    state->release();
    throw;
  }
  return state;
}

}  // namespace nacre::detail
