// SPDX-License-Identifier: Apache-2.0
// The clock of a rank: an interface, the real clock, and a clock that tests advance by hand.
#pragma once

#include <chrono>
#include <cstdint>

#if !defined(__x86_64__)
#include <ctime>
#endif

namespace nacre {

/// Time as a rank sees it: real, or virtual under simulation. now() never goes backwards within one thread.
class clock {
 public:
  virtual ~clock() = default;

  /// Returns the time since the clock's origin, which each clock chooses.
  [[nodiscard]] virtual std::chrono::nanoseconds now() = 0;

 protected:
  clock() = default;
  clock(const clock&) = default;
  clock& operator=(const clock&) = default;
};

/// Reads the processor's counter, the cheapest measure of elapsed time. Values of two threads are comparable when
/// ticks_are_steady(). On a processor without a counter, ticks are nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // <x86intrin.h> takes 0.4 s to compile
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
#endif
}

/// Returns how often ticks() advances in a second. The first call may measure it, which may take 5 ms.
[[nodiscard]] double ticks_per_second();

/// True when ticks() advances alike on all cores, at any frequency and in every sleep state, and the kernel trusts the
/// counter too.
[[nodiscard]] bool ticks_are_steady();

/// Real time since the origin of CLOCK_MONOTONIC, so that the processes of one host agree closely. Reads the
/// processor's counter when the counter is steady, otherwise clock_gettime. The counter's calibration is off by some
/// ten parts per million. Safe to use from many threads at once.
class steady_clock_source final : public clock {
 public:
  steady_clock_source();
  [[nodiscard]] std::chrono::nanoseconds now() override;

 private:
  std::uint64_t origin_ticks_ = 0;
  std::chrono::nanoseconds origin_{0};
  std::uint64_t scale_ = 0;  // nanoseconds a tick, times 2^32; zero reads clock_gettime
};

/// Time that stands still until it is advanced, for tests. Not thread-safe.
class manual_clock final : public clock {
 public:
  explicit manual_clock(std::chrono::nanoseconds start = {}) noexcept : now_(start) {}
  [[nodiscard]] std::chrono::nanoseconds now() override { return now_; }
  void advance(std::chrono::nanoseconds step) noexcept { now_ += step; }

 private:
  std::chrono::nanoseconds now_;
};

}  // namespace nacre
