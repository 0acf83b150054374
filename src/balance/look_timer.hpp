// SPDX-License-Identifier: Apache-2.0
// How long a look of a balancer has taken its thread.
#pragma once

#include <cstdint>

#include "exec/worker_pool.hpp"

namespace nacre::balance {

/// What the calling thread has worked so far. Asking takes some tenths of a microsecond.
[[nodiscard]] double thread_seconds() noexcept;

/// Times looks by the worker_pool's clock, which costs nothing and also counts while the thread does not run. A long look is
/// therefore compared with the work of its thread since a moment not long before, for which the system is asked rarely:
/// else a look in which the thread was interrupted would be drawn on the account for what others did. One at a time.
class look_timer {
 public:
  explicit look_timer(const worker_pool& pool, bool simulated) : pool_(pool), simulated_(simulated) {}

  void begin(const thread_context& by) noexcept;
  /// Seconds since begin, less `apart`, which were spent on something else.
  [[nodiscard]] double end(double apart) noexcept;
  /// How long the rank has had a processor until now, as far as is known: where others use it too, less than has
  /// passed.
  [[nodiscard]] double worked() noexcept;

 private:
  void mark(const thread_context& by, double known) noexcept;

  const worker_pool& pool_;
  bool simulated_;
  const thread_context* by_ = nullptr;
  std::uint64_t begin_ = 0;      // in ticks of the worker_pool
  std::uint64_t worked_at_ = 0;  // likewise, when worked_ was right
  double worked_ = 0;
  double part_ = 1;  // moving average of how much of the time threads of looks have worked
  struct {
    const thread_context* by = nullptr;  // whose thread; null: nothing is known
    std::uint64_t at = 0;                // in ticks of the worker_pool
    double thread_seconds = 0;
  } mark_;
};

}  // namespace nacre::balance
