// SPDX-License-Identifier: Apache-2.0
// Sums of the times of very many threads, which may be longer than 292 years together.
#pragma once

#include <algorithm>
#include <chrono>

namespace nacre::emulator {

/// Adds a time that is not negative; the sum stays at 292 years, the longest of all times, when it has come there.
inline void add_time(std::chrono::nanoseconds& sum, std::chrono::nanoseconds time) noexcept {
  sum = std::min(sum, std::chrono::nanoseconds::max() - time) + time;
}

}  // namespace nacre::emulator
