// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind waits that end with time, and behind messages that are sent later.
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "backplane/timer_queue.hpp"
#include "runtime/engine.hpp"

namespace nacre {

bool context::cancelled() const { return detail::is_cancelled(*core_, *thread_, *cause_); }

}  // namespace nacre

namespace nacre::detail {

bool is_cancelled(engine& core, thread_context& on, const message_header& cause) {
  core.expect_own_thread();
  return core.messages().cancellations().is_given_up(on, cause);
}

/// A message that waits for its time. The timer, while it is set, and the program's handle hold a reference each. The
/// job goes on until the timer has fired, so a handle that outlives the job finds the message sent or taken back.
class delayed_state final : public timer {
 public:
  delayed_state(engine& core, const object_pair& ends, message_ptr m) noexcept
      : timer(&on_due), core_(core), ends_(ends), message_(std::move(m)) {}

  void begin(std::chrono::nanoseconds due) { core_.pool().set_timer(*this, due); }
  bool take_back() noexcept {
    // acquire: pairs with the release in on_due.
    if (over_.load(std::memory_order_acquire) || !core_.pool().remove_timer(*this)) return false;
    over_.store(true, std::memory_order_relaxed);  // of the program's thread, which asks again
    message_.reset();
    release();
    return true;
  }
  void release() noexcept {
    // acq_rel: the last holder sees what the other one has done.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  static void on_due(timer& self, thread_context& by) {
    auto& own = static_cast<delayed_state&>(self);
    if (own.ends_.to.valid()) {
      post_to_object(own.core_, by, own.ends_, std::move(own.message_));
    } else {
      post_to_rank(own.core_, by, own.core_.rank(), std::move(own.message_));
    }
    own.over_.store(true, std::memory_order_release);  // pairs with take_back: from now on `core_` may end
    own.release();
  }

  engine& core_;
  object_pair ends_;
  message_ptr message_;
  std::atomic<bool> over_{false};
  std::atomic<int> references_{2};
};

/// Packs the arguments where they may have to leave, since the caller can catch what that throws.
delayed_state* post_after(engine& core, thread_context&, double seconds, const object_pair& ends, message_ptr m) {
  core.expect_own_thread();
  check_seconds(seconds, "a delay");
  const auto due = core.pool().instant_after(seconds);
  if (due == std::chrono::nanoseconds::max()) {
    throw usage_error(fmt::format(
        "a message to be sent after {} s, beyond what the clock can tell: the job would never end, so leave it out",
        seconds));
  }
  const bool may_leave = ends.to.valid() || core.messages().deferred();
  if (may_leave && !m->packed() && !m->ops->simple && !core.messages().by_pointer()) m = packed_by_sender(std::move(m));
  auto made = std::make_unique<delayed_state>(core, ends, std::move(m));
  made->begin(due);
  return made.release();
}

bool take_back(delayed_state& state) noexcept { return state.take_back(); }
void release(delayed_state& state) noexcept { state.release(); }

bool wait_in_application(engine& core, thread_context& on, future_state& state, time_limit how, double seconds) {
  check_seconds(seconds, "a time limit");
  return core.wait_until(on, state,
                         how == time_limit::duration ? core.pool().instant_after(seconds)
                                                     : core.pool().instant_after(seconds - core.job_time().seconds()));
}

}  // namespace nacre::detail
