// SPDX-License-Identifier: Apache-2.0
// Futures that are ready when a time is over.
#include <nacre/core.hpp>

#include "am/am_engine.hpp"
#include "backplane/timer_queue.hpp"
#include "exec/worker_pool.hpp"

namespace nacre::detail {
namespace {

/// The state of a sleep. The timer holds a reference while it is set.
class sleep_state final : public future_value<void>, public timer {
 public:
  explicit sleep_state(worker_pool& pool) noexcept : timer(&on_due), pool_(pool) {}

  void begin(double seconds) { pool_.set_timer(*this, pool_.instant_after(seconds)); }

 private:
  static void on_due(timer& self, thread_context& by) {
    auto& own = static_cast<sleep_state&>(self);
    own.complete(by);
    own.release();
  }
  void on_abandon() noexcept override {
    if (pool_.remove_timer(*this)) release();
  }
  bool give_up(thread_context& by) override {
    if (!pool_.remove_timer(*this)) return true;  // it ends at this moment
    complete_with_error("the sleep was cancelled", by);
    release();
    return true;
  }

  worker_pool& pool_;
};

}  // namespace

future_value<void>* start_sleep(thread_context& on, double seconds) {
  check_seconds(seconds, "a sleep");
  auto* const state = new sleep_state(on.pool());
  state->acquire();
  try {
    state->begin(seconds);
  } catch (...) {
    state->release();
    state->release();
    throw;
  }
  return state;
}

}  // namespace nacre::detail
