// SPDX-License-Identifier: Apache-2.0
// Measures whether a call has used more of a processor's time than it may.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/clock.hpp"

namespace nacre {

/// Reads the processor's counter twice for each call. Reads the time of the thread, which costs a system call, only
/// about four times in each `most`. So a call that was long only because its thread had no processor is not over its
/// budget. One thread at a time, not always the same one.
class call_budget {
 public:
  /// `most` is 0: no limit.
  explicit call_budget(std::chrono::nanoseconds most)
      : most_seconds_(std::chrono::duration<double>(most).count()),
        most_ticks_(static_cast<std::uint64_t>(most_seconds_ * ticks_per_second())) {}

  void begin() noexcept {
    if (most_ticks_ == 0) return;
    began_ = ticks();
    if (began_ - sampled_at_ > most_ticks_ / 4 || thread_ != std::this_thread::get_id()) sample();
  }
  /// Whether the call that began last is over its budget, unless it has used less of a processor.
  [[nodiscard]] bool over() noexcept {
    if (most_ticks_ == 0 || ticks() - began_ <= most_ticks_) return false;
    const double previous = sampled_;
    sample();
    return sampled_ - previous > most_seconds_ * 1.25;  // up to a quarter may have been used before the call
  }
  [[nodiscard]] double most_seconds() const noexcept { return most_seconds_; }

 private:
  void sample() noexcept;

  const double most_seconds_;
  const std::uint64_t most_ticks_;
  std::uint64_t began_ = 0;
  std::uint64_t sampled_at_ = 0;  // in ticks
  double sampled_ = 0;            // processor time of thread_ then, in seconds
  std::thread::id thread_;
};

}  // namespace nacre
