// SPDX-License-Identifier: Apache-2.0
// The timers of a poll loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

namespace nacre {

class thread_context;

/// Few timers, each of which says when it runs again. One thread at a time; times are on the caller's clock.
class timers {
 public:
  using action = std::function<std::chrono::nanoseconds(thread_context&)>;

  /// Runs `what` at `due`, and then each time after the interval that it returns.
  void add(std::chrono::nanoseconds due, action what) {
    all_.push_back({due, std::move(what)});
    due_ = std::min(due_, due);
  }
  /// When the earliest is due; nanoseconds::max() when there is none.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept { return due_; }
  /// Runs those that are due.
  void run(thread_context& by, std::chrono::nanoseconds now) {
    if (now < due_) return;
    due_ = std::chrono::nanoseconds::max();
    for (timer& each : all_) {
      if (each.due <= now) each.due = now + each.what(by);
      due_ = std::min(due_, each.due);
    }
  }

 private:
  struct timer {
    std::chrono::nanoseconds due;
    action what;
  };
  std::vector<timer> all_;
  std::chrono::nanoseconds due_ = std::chrono::nanoseconds::max();
};

}  // namespace nacre
