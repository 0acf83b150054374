// SPDX-License-Identifier: Apache-2.0
// The rank's side of its submitters: runs what they have handed in, within bounds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "am/am_engine.hpp"
#include "am/main_send_window.hpp"
#include "backplane/backplane.hpp"
#include "base/clock.hpp"
#include "runtime/submission_queue.hpp"

namespace nacre {

/// The poll loop runs submissions: each sends a message, as a main does. Messages that stay in this address space take
/// room in a window, as those of main do (am/main_send_window.hpp); while that is full, or the links are, submissions
/// wait in their queue, and when the queue is full the threads that hand in wait. An open door is a unit of quiescence.
class submissions {
 public:
  /// `bytes_max`: of arguments that wait until the poll loop takes them.
  submissions(engine& core, am_engine& messages, backplane& link, clock& time, std::uint64_t bytes_max);
  ~submissions() { queue_->end(); }
  submissions(const submissions&) = delete;
  submissions& operator=(const submissions&) = delete;

  /// Inside the poll loop, at every pass; returns the latest time of the next call.
  [[nodiscard]] std::chrono::nanoseconds poll(thread_context& thread) {
    return queue_->empty() ? std::chrono::nanoseconds::max() : run_some(thread);
  }
  [[nodiscard]] const std::shared_ptr<submission_queue>& queue() const noexcept { return queue_; }
  /// While main's window is that of all that its process has sent; before anything runs.
  void bound(std::uint64_t bytes_max);

  void note_opened(thread_context& thread);
  void note_closed(thread_context& thread);
  /// Doors of this rank that other threads may still use. Any thread.
  [[nodiscard]] std::uint32_t open_doors() const noexcept { return doors_.load(std::memory_order_relaxed); }

 private:
  std::chrono::nanoseconds run_some(thread_context& thread);
  [[nodiscard]] bool has_room();

  engine& core_;
  am_engine& messages_;
  backplane& link_;
  clock& time_;
  std::shared_ptr<submission_queue> queue_;
  std::unique_ptr<main_send_window> window_;  // of the poll loop, which one thread at a time runs
  std::atomic<std::uint32_t> doors_{0};
};

}  // namespace nacre
