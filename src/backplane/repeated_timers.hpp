// SPDX-License-Identifier: Apache-2.0
// The timers of the runtime itself, which run again and again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backplane/timer_heap.hpp"

namespace nacre {

/// Timers each of which says when it runs again. One thread at a time; times are on the caller's clock.
class repeated_timers {
 public:
  using action = std::function<std::chrono::nanoseconds(thread_context&)>;

  /// Runs `body` at `due`, and then each time after the interval that it returns.
  void add(std::chrono::nanoseconds due, action body) {
    all_.push_back(std::make_unique<repeated>(std::move(body)));
    heap_.set(*all_.back(), due);
    due_now_.reserve(all_.size());
  }
  /// When the earliest is due; nanoseconds::max() when there is none.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept { return heap_.due(); }
  /// Runs those that are due, each once.
  void run(thread_context& thread, std::chrono::nanoseconds now) {
    while (timer* const next = heap_.take_due(now)) due_now_.push_back(static_cast<repeated*>(next));
    for (repeated* const each : due_now_) heap_.set(*each, now + each->callback(thread));
    due_now_.clear();
  }

 private:
  struct repeated final : timer {
    explicit repeated(action body) : timer(nullptr), callback(std::move(body)) {}
    action callback;
  };
  timer_heap heap_;
  std::vector<std::unique_ptr<repeated>> all_;
  std::vector<repeated*> due_now_;  // of one run
};

}  // namespace nacre
