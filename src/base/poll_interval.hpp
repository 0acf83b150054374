// SPDX-License-Identifier: Apache-2.0
// Limits how often a costly check runs, by time.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace nacre {

/// Tells a caller when to repeat work that costs too much to be done each time. It goes by time and not by a count of
/// calls, so it means the same to a caller that polls without a pause and to one that polls between work items. Several
/// threads may call it, one at a time; where their processors' counters differ, it may be due too early.
class poll_interval {
 public:
  explicit poll_interval(std::chrono::nanoseconds apart)
      : apart_ticks_(static_cast<std::uint64_t>(std::chrono::duration<double>(apart).count() * ticks_per_second())) {}

  /// True at the first call, and at the first call after each interval of `apart`.
  [[nodiscard]] bool due() noexcept {
    const std::uint64_t now = ticks();
    if (begun_ && now - last_ < apart_ticks_) return false;
    begin(now);
    return true;
  }
  /// Starts the next interval now.
  void restart() noexcept { begin(ticks()); }

 private:
  void begin(std::uint64_t now) noexcept {
    begun_ = true;
    last_ = now;
  }

  std::uint64_t apart_ticks_;
  std::uint64_t last_ = 0;
  bool begun_ = false;
};

}  // namespace nacre
