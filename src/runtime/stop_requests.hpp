// SPDX-License-Identifier: Apache-2.0
// Signals that ask a program to end by itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/am_engine.hpp"

namespace nacre {

/// A signal may come to one rank alone, so a rank that gets one tells the others.
///
/// | event | not asked for | asked for, none came | requested |
/// |---|---|---|---|
/// | main asks for it | handlers are set; none came | - | - |
/// | SIGTERM or SIGINT | the system's way | all ranks are told; requested | the system's way: it ends the process |
/// | a rank tells, or the launcher asks for a last image | noted: requested once asked for | requested | - |
class stop_requests {
 public:
  explicit stop_requests(am_engine& messages);

  /// SIGTERM and SIGINT no longer end this process, once each. Main.
  void handle_signals();
  /// Main has asked for it. Any thread of the rank.
  [[nodiscard]] bool handled() const noexcept { return handled_.load(std::memory_order_relaxed); }
  /// Any thread of the rank.
  [[nodiscard]] bool requested() const noexcept;
  /// Inside the poll loop, at every pass.
  void poll(thread_context& thread) {
    if (handled_.load(std::memory_order_relaxed) && !told_ && requested()) tell(thread);
  }

  // A message of the same module on another rank.
  void on_stop(context& ctx, int signal);

 private:
  void tell(thread_context& thread);

  am_engine& messages_;
  std::atomic<bool> handled_{false};  // main has asked for it; a hint elsewhere
  std::atomic<int> signal_{0};        // that another rank has told of; only a number
  bool told_ = false;                 // the poll loop: rank 0 knows
  bool passed_on_ = false;            // the poll loop: the ranks below this one know
};

}  // namespace nacre
