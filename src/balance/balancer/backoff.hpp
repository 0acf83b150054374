// SPDX-License-Identifier: Apache-2.0
// Exponential back-off: waits double after each failure, up to a bound, with jitter so that ranks do not act in step.
#pragma once

#include <algorithm>
#include <string_view>

#include <nacre/config.hpp>
#include <nacre/rng.hpp>

namespace nacre::balance {

/// Times are in seconds.
class backoff {
 public:
  /// 0 < min <= max.
  backoff(double min, double max) noexcept : min_(min), max_(max), next_(min) {}

  /// The wait after one more failure: between half of the present bound and all of it; the bound doubles.
  [[nodiscard]] double fail(rng& random) noexcept {
    const double wait = next_ * (0.5 + 0.5 * random.uniform());
    next_ = std::min(2 * next_, max_);
    return wait;
  }
  void succeed() noexcept { next_ = min_; }

  [[nodiscard]] double min() const noexcept { return min_; }
  [[nodiscard]] double max() const noexcept { return max_; }

 private:
  double min_;
  double max_;
  double next_;
};

/// The value of an option of kind duration, in seconds.
[[nodiscard]] double seconds_of(const config& configuration, std::string_view name);

/// A back-off between the durations of two options. Throws setup_error when they contradict each other.
[[nodiscard]] backoff read_backoff(const config& configuration, std::string_view min, std::string_view max);

}  // namespace nacre::balance
