// SPDX-License-Identifier: Apache-2.0
// What need not be done each time.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace nacre {

/// Says when it is time again for something that costs too much to be done each time. Unlike a count it means the same
/// to who asks without a pause and to who asks between pieces of work. Threads may take turns in asking: where their
/// counters differ, it is time too early.
class poll_interval {
 public:
  explicit poll_interval(std::chrono::nanoseconds apart)
      : apart_ticks_(static_cast<std::uint64_t>(std::chrono::duration<double>(apart).count() * ticks_per_second())) {}

  /// True at the first call, and at the first one after each pause of `apart`.
  [[nodiscard]] bool due() noexcept {
    const std::uint64_t now = ticks();
    if (begun_ && now - last_ < apart_ticks_) return false;
    begin(now);
    return true;
  }
  /// The next pause begins now.
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
