// SPDX-License-Identifier: Apache-2.0
// Seconds that a program took, on a machine that may stand still now and then.
#pragma once

#include <algorithm>
#include <chrono>

namespace nacre::tests {

/// Seconds in which a job that must not hang ends, even on a busy machine; without that it would go on for a minute.
inline constexpr double unhurried_end = 30;

/// Counts from its making, as long as somebody looks: a look counts at most `look_max` since the one before, so that a
/// machine that stood still, or had no time for the test, is not taken for a slow program.
class stopwatch {
 public:
  static constexpr std::chrono::milliseconds look_max{250};

  double look() {
    const auto now = std::chrono::steady_clock::now();
    counted_ += std::min<std::chrono::steady_clock::duration>(now - last_, look_max);
    last_ = now;
    return std::chrono::duration<double>(counted_).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration counted_{0};
};

}  // namespace nacre::tests
