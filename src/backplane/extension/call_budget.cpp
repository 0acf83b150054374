// SPDX-License-Identifier: Apache-2.0
// Reads the processor time of a thread.
#include "backplane/extension/call_budget.hpp"

#include <ctime>

namespace nacre {

void call_budget::sample() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  sampled_ = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  sampled_at_ = ticks();
  thread_ = std::this_thread::get_id();
}

}  // namespace nacre
