// SPDX-License-Identifier: Apache-2.0
// The time of a job on one rank, over all its starts.
#pragma once

#include <chrono>

#include "base/clock.hpp"

namespace nacre {

/// Any thread, but go_on_from.
class job_clock {
 public:
  explicit job_clock(clock& time) : time_(time), started_(time.now()) {}

  /// Seconds that the job has run, with those before the image from which it goes on; virtual in a simulation.
  [[nodiscard]] double seconds() const { return previous_seconds_ + own_seconds(); }
  /// Seconds since this start.
  [[nodiscard]] double own_seconds() const { return std::chrono::duration<double>(time_.now() - started_).count(); }
  /// The job had run for so long when its image was taken. Main, before anything else has run.
  void go_on_from(double seconds) { previous_seconds_ = seconds - own_seconds(); }

 private:
  clock& time_;
  const std::chrono::nanoseconds started_;
  double previous_seconds_ = 0;
};

}  // namespace nacre
