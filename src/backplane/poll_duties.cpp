// SPDX-License-Identifier: Apache-2.0
// One round of timers and hooks.
#include "backplane/poll_duties.hpp"

namespace nacre {

bool poll_duties::run_timers(thread_context& thread) {
  const bool fired = timers_.due() != std::chrono::nanoseconds::max() && timers_.run(thread, time_.now());
  if (ticks_.due() != std::chrono::nanoseconds::max()) ticks_.run(thread, time_.now());
  return fired;
}

void poll_duties::run_hooks(thread_context& thread, std::chrono::nanoseconds other_due) {
  std::chrono::nanoseconds next = std::min(ticks_.due(), other_due);
  for (const hook& each : hooks_) next = std::min(next, each(thread));
  if (next != ticks_due_.load(std::memory_order_relaxed)) {  // written under the poll lock
    ticks_due_.store(next, std::memory_order_release);       // pairs with the acquire in ticks_due
  }
}

}  // namespace nacre
