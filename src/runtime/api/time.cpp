// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind waits that end with time.
#include <chrono>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre {

bool context::cancelled() const { return detail::is_cancelled(*core_, *thread_, *cause_); }

}  // namespace nacre

namespace nacre::detail {

bool is_cancelled(engine& core, thread_context& thread, const message_header& cause) {
  core.expect_own_thread();
  return core.messages().cancellations().is_given_up(thread, cause);
}

bool wait_in_application(engine& core, thread_context& thread, future_state& state, time_limit limit, double seconds) {
  check_seconds(seconds, "a time limit");
  return core.wait_until(thread, state,
                         limit == time_limit::duration
                             ? core.pool().instant_after(seconds)
                             : core.pool().instant_after(seconds - core.job_time().seconds()));
}

}  // namespace nacre::detail
