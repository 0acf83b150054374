// SPDX-License-Identifier: Apache-2.0
// Notices that a function of an extension module does not return.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace nacre {

/// One module under watch. Code inside the poll loop cannot be interrupted, so a function that never returns stops its
/// rank: a thread of the process looks at all modules four times in each `patience`, and calls `stuck` when one
/// function has been running at more than four looks in a row. `begin` and `end` are called by one thread at a time;
/// they are two stores.
class extension_watch {
 public:
  /// `patience` is 0: nobody looks. `stuck` gets the name of the function and the seconds; any thread calls it.
  /// Throws std::system_error where the process may have no more threads.
  extension_watch(std::chrono::nanoseconds patience, std::function<void(const char*, double)> stuck);
  extension_watch(const extension_watch&) = delete;
  extension_watch& operator=(const extension_watch&) = delete;
  ~extension_watch();

  /// `function` is a literal.
  void begin(const char* function) noexcept {
    // relaxed: the watchdog compares numbers, and a late view of them costs it one look.
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    running_.store(function, std::memory_order_relaxed);
  }
  void end() noexcept { running_.store(nullptr, std::memory_order_relaxed); }  // relaxed: as in begin

 private:
  friend class extension_watchdog;
  void look();

  const std::chrono::nanoseconds patience_;
  const std::function<void(const char*, double)> stuck_;
  std::atomic<const char*> running_{nullptr};
  std::atomic<std::uint64_t> calls_{0};
  std::uint64_t seen_call_ = 0;                      // of the watchdog's thread
  int seen_times_ = 0;                               // of the watchdog's thread
  std::chrono::steady_clock::time_point look_at_{};  // of the watchdog's thread
};

}  // namespace nacre
