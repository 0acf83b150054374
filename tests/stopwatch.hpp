// SPDX-License-Identifier: Apache-2.0
// Seconds that a program took, on a machine that may stand still now and then, or be busy with other work.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace nacre::tests {

/// Seconds of a stopwatch in which a job that must not hang ends, even on a busy machine. What would hold it up must
/// last ten minutes or more: where a few threads share a processor, one minute counts less than this.
inline constexpr double unhurried_end = 30;

/// Counts from its making, as long as somebody looks: a look counts at most `look_max` since the one before, so that a
/// machine that stood still, or had no time for the test, is not taken for a slow program. Where ten threads share a
/// processor, a second counts a tenth: what hangs there is ended by the limit that CTest has for a test.
class stopwatch {
 public:
  static constexpr std::chrono::milliseconds look_max{250};

  double look() {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = std::min<std::chrono::steady_clock::duration>(now - last_, look_max);
    last_ = now;
    since_census_ += passed;
    if (since_census_ > look_max / 2) {
      threads_of_processor_ = threads_of_a_processor();
      since_census_ = {};
    }
    counted_ += std::chrono::duration<double>(passed).count() / threads_of_processor_;
    return counted_;
  }

 private:
  /// Threads that run or wait for a processor, of the whole machine, for each of its processors; at least 1.
  static double threads_of_a_processor() {
    std::ifstream file("/proc/loadavg");  // "0.20 0.18 0.12 3/250 11206": 3 of 250 are ready to run
    std::string average;
    double ready = 0;
    for (int number = 0; number < 3; ++number) file >> average;
    file >> ready;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return file && processors > 0 ? std::max(1.0, ready / static_cast<double>(processors)) : 1.0;
  }

  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::duration since_census_{0};
  double threads_of_processor_ = 1;
  double counted_ = 0;
};

}  // namespace nacre::tests
