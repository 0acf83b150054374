// SPDX-License-Identifier: Apache-2.0
// Measures how much of its thread's time a look of a balancer has taken.
#pragma once

#include <cstdint>

#include "exec/worker_pool.hpp"

namespace nacre::balance {

/// CPU time of the calling thread so far. The call takes some tenths of a microsecond.
[[nodiscard]] double thread_seconds() noexcept;

/// Times looks, one at a time, by the worker pool's clock. That clock is cheap, but also counts while the thread is
/// preempted. So a long look counts at most the CPU time of its thread since a recent mark; otherwise the account would
/// pay for other threads. The kernel is asked for CPU time only rarely.
class look_timer {
 public:
  explicit look_timer(const worker_pool& pool, bool simulated) : pool_(pool), simulated_(simulated) {}

  void begin(const thread_context& thread) noexcept;
  /// Seconds since begin, less `apart`, which were spent on something else.
  [[nodiscard]] double end(double apart) noexcept;
  /// An estimate of how long the rank has had a processor until now: less than wall time where others share it.
  [[nodiscard]] double worked() noexcept;

 private:
  void mark(const thread_context& thread, double known) noexcept;

  const worker_pool& pool_;
  bool simulated_;
  const thread_context* thread_ = nullptr;
  std::uint64_t begin_ = 0;      // in ticks of the worker pool's clock
  std::uint64_t worked_at_ = 0;  // in ticks: when worked_ was brought up to date
  double worked_ = 0;
  double part_ = 1;  // moving average: CPU time of a thread that looks, per wall time
  struct {
    const thread_context* thread = nullptr;  // the thread that was measured; null: none yet
    std::uint64_t instant = 0;               // in ticks of the worker pool's clock
    double thread_seconds = 0;
  } mark_;
};

}  // namespace nacre::balance
