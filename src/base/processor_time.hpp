// SPDX-License-Identifier: Apache-2.0
// The processor time of a thread of the host, and the price of looking at it.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace nacre {

/// The processor time that the calling thread has taken so far.
[[nodiscard]] inline std::chrono::nanoseconds processor_time() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// The time between two looks with nothing between them: a system call, which is longer than many a handler. The least
/// of many pairs.
[[nodiscard]] inline std::chrono::nanoseconds cost_of_processor_time() noexcept {
  std::chrono::nanoseconds least = std::chrono::seconds(1);
  for (int pair = 0; pair < 1000; ++pair) {
    const std::chrono::nanoseconds begin = processor_time();
    least = std::min(least, processor_time() - begin);
  }
  return least;
}

/// The virtual time that the processor time since `begin` costs: without that of a look at the clock, times `factor`.
[[nodiscard]] inline std::int64_t measured_cost(std::chrono::nanoseconds begin, std::chrono::nanoseconds clock_cost,
                                                double factor) noexcept {
  const std::chrono::nanoseconds took = processor_time() - begin - clock_cost;
  return static_cast<std::int64_t>(static_cast<double>(std::max<std::int64_t>(took.count(), 0)) * factor);
}

}  // namespace nacre
