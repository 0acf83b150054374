// SPDX-License-Identifier: Apache-2.0
// Spinning for a short wait, and yielding the processor when the wait grows long.
#pragma once

#include <cstdint>

#include <sched.h>

namespace nacre {

/// Tells the processor that this is a spinning loop: saves power and lets the sibling hyper-thread run.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits between attempts, twice as long each time up to a bound. Beyond the bound it yields the processor to another
/// thread, which may be the one that the caller waits for. One object per wait; not thread-safe.
class backoff {
 public:
  /// Waits once.
  void pause() noexcept {
    if (relaxations_ > relaxations_max) {
      sched_yield();
      return;
    }
    for (std::uint32_t i = 0; i < relaxations_; ++i) cpu_relax();
    relaxations_ *= 2;
  }

  /// True when further pauses yield the processor; the caller should then consider sleeping.
  [[nodiscard]] bool yields() const noexcept { return relaxations_ > relaxations_max; }

  /// Starts over after a success.
  void reset() noexcept { relaxations_ = 1; }

 private:
  static constexpr std::uint32_t relaxations_max = 64;  // about 1 us in the longest pause
  std::uint32_t relaxations_ = 1;
};

}  // namespace nacre
