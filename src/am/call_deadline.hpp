// SPDX-License-Identifier: Apache-2.0
// The time limit of one call.
#pragma once

#include <cstdint>

#include "am/pending_calls.hpp"
#include "backplane/timer_queue.hpp"

namespace nacre {

/// A timer that lets a waiting call fail. pending_calls owns it until it fires; then it ends its own life.
class call_deadline final : public timer {
 public:
  call_deadline(pending_calls& calls, timer_queue& timers, std::uint64_t call, double seconds) noexcept
      : timer(&on_due), calls_(calls), timers_(timers), call_(call), seconds_(seconds) {}

  /// True: it will not fire, and belongs to the caller.
  [[nodiscard]] bool remove() noexcept { return timers_.remove(*this); }

 private:
  static void on_due(timer& self, thread_context& by);

  pending_calls& calls_;
  timer_queue& timers_;
  std::uint64_t call_;
  double seconds_;
};

}  // namespace nacre
