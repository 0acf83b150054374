// SPDX-License-Identifier: Apache-2.0
// Threads of a rank that only poll: always, or while no worker does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/spin.hpp"
#include "exec/own_thread.hpp"
#include "exec/thread_pool.hpp"

namespace nacre {
namespace {

constexpr int fallback_pauses_max = 4;  // the pause between its polls grows to so many times the first

}  // namespace

void thread_pool::poll_alone() {
  thread_context& thread = progress_thread();
  const acting_scope actor(thread);
  thread.reader_.online();
  backoff pause;
  std::uint64_t moved_at = instant();
  std::uint32_t looks = 0;
  bool moved = false;
  while (!stopping_.load(std::memory_order_relaxed)) {  // only a flag
    thread.reader_.quiescent();
    const bool spins = instant() - moved_at < spin_ticks_;
    moved = link_.progress(thread, moved || !spins || ++looks % polls_per_thorough_poll == 0);
    if (moved) {
      moved_at = instant();
      pause.reset();
    } else if (spins) {
      pause.pause();
    } else {
      thread.reader_.offline();
      watched_ = true;
      link_.wait(tuning_.sleep_max);
      watched_ = false;
      thread.reader_.online();
    }
  }
  thread.reader_.offline();
}

void thread_pool::run_fallback_poller() {
  thread_context& thread = progress_thread();
  const acting_scope actor(thread);
  const std::chrono::nanoseconds pause_max = tuning_.patience * fallback_pauses_max;
  std::chrono::nanoseconds pause = tuning_.patience;
  std::uint64_t polls = 0;
  while (!stopping_) {
    fallback_parker_.park_for(pause);
    if (idle_workers() != 0) {
      fallback_asleep_ = true;
      if (idle_workers() != 0 && !stopping_) fallback_parker_.park_for(tuning_.sleep_max);
      fallback_asleep_ = false;
    }
    bool helped = false;
    if (link_.polls() == polls) {
      thread.reader_.online();
      helped = link_.progress(thread);
      thread.reader_.offline();
    }
    polls = link_.polls();
    pause = helped ? tuning_.patience : std::min(pause * 2, pause_max);
  }
}

}  // namespace nacre
