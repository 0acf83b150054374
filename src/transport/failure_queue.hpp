// SPDX-License-Identifier: Apache-2.0
// The failures that an endpoint has seen and has not handed out yet.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <utility>

#include "join/launch/failure.hpp"

namespace nacre::transport {

/// Failures, oldest first. One thread at a time, by the caller's lock or because only one thread polls; `any` alone may
/// be called by every thread at any time.
class failure_queue {
 public:
  void push(launch::failure failure) {
    failures_.push_back(std::move(failure));
    any_.store(true, std::memory_order_relaxed);  // a hint for any(): the caller's lock orders the failures
  }
  /// False: there is none, or a thread is just pushing the first one.
  [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// The oldest one; null: there is none. Valid until the next call.
  [[nodiscard]] const launch::failure* first() const noexcept {
    return failures_.empty() ? nullptr : &failures_.front();
  }
  [[nodiscard]] std::optional<launch::failure> take() {
    if (failures_.empty()) return std::nullopt;
    std::optional<launch::failure> oldest(std::move(failures_.front()));
    failures_.pop_front();
    any_.store(!failures_.empty(), std::memory_order_relaxed);  // see push
    return oldest;
  }

 private:
  std::deque<launch::failure> failures_;
  std::atomic<bool> any_{false};
};

}  // namespace nacre::transport
