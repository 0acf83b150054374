// SPDX-License-Identifier: Apache-2.0
// Ends a wait of main at a time, for a last image, or when the job stands still. Unlike a timer it is no unit of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "backplane/timer_heap.hpp"
#include "join/launch/image_wish.hpp"
#include "quiescence/quiescence_module.hpp"

namespace nacre {

/// Main sets it and takes it back; the poll loop fires it.
class main_alarm {
 public:
  using instant = std::chrono::nanoseconds;
  static constexpr std::chrono::milliseconds between_looks{20};  ///< for a signal, which wakes no poll loop
  struct settings {
    instant due{0};
    std::chrono::nanoseconds still_max{
        0};                              ///< how long waves find open units and no change before it fires; 0: for ever
    instant wish_from = instant::max();  ///< from then on it fires also when a signal has asked for a last image
  };

  void set(timer& fired, const settings& tuning) {
    const std::scoped_lock lock(mutex_);
    fired_ = &fired;
    settings_ = tuning;
    set_.store(true, std::memory_order_relaxed);  // a hint for the poll loop, which is woken
  }
  /// False: it fires, or has fired.
  [[nodiscard]] bool take_back() { return take() != nullptr; }
  [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_relaxed); }

  /// Inside the poll loop. Returns when it must be called again at the latest.
  [[nodiscard]] instant poll(thread_context& thread, instant now, quiescence_module& waves) {
    settings tuning;
    {
      const std::scoped_lock lock(mutex_);
      if (fired_ == nullptr) return instant::max();
      tuning = settings_;
    }
    const bool still = tuning.still_max.count() != 0 && waves.stands_still_for(now) >= tuning.still_max;
    const bool looks = tuning.wish_from != instant::max();
    const bool wished = looks && now >= tuning.wish_from && launch::last_image_signal() != 0;
    if (now < tuning.due && !still && !wished) {
      if (looks) return std::min(tuning.due, now + between_looks);
      return tuning.still_max.count() != 0 ? std::min(tuning.due, now + tuning.still_max) : tuning.due;
    }
    if (timer* const fired = take()) fired->fire(thread);
    return instant::max();
  }

 private:
  timer* take() {
    const std::scoped_lock lock(mutex_);
    set_.store(false, std::memory_order_relaxed);  // a hint
    return std::exchange(fired_, nullptr);
  }

  std::mutex mutex_;
  timer* fired_ = nullptr;  // under mutex_, as the next
  settings settings_;
  std::atomic<bool> set_{false};
};

}  // namespace nacre
