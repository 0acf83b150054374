// SPDX-License-Identifier: Apache-2.0
// The time limit of one call.
#pragma once

#include <chrono>
#include <cstdint>

#include "am/pending_calls.hpp"
#include "backplane/poll_duties.hpp"

namespace nacre {

/// A timer that lets a waiting call fail. pending_calls owns it until it fires; then it ends its own life.
class call_deadline final : public timer {
 public:
  call_deadline(pending_calls& calls, poll_duties& duties, std::uint64_t call, double seconds,
                std::chrono::nanoseconds due) noexcept
      : timer(&on_due), calls_(calls), duties_(duties), call_(call), seconds_(seconds), due_(due) {}

  /// True: it will not fire, and belongs to the caller.
  [[nodiscard]] bool remove() noexcept { return duties_.timers().remove(*this); }
  /// Whether it is over, though it may not have fired yet: a rank that is behind may see the result first.
  [[nodiscard]] bool has_passed() const { return duties_.now() > due_; }
  /// The deadline that was given, in seconds after the call.
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  /// Fails the call, and gives the reference back.
  static void fail(detail::future_state& state, double seconds, thread_context& thread);

 private:
  static void on_due(timer& self, thread_context& thread);

  pending_calls& calls_;
  poll_duties& duties_;
  std::uint64_t call_;
  double seconds_;
  std::chrono::nanoseconds due_;
};

}  // namespace nacre
