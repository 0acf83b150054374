// SPDX-License-Identifier: Apache-2.0
// Threads of a rank that only poll: always, or while no worker does.
#include <algorithm>

#include "base/spin.hpp"
#include "exec/thread_crew.hpp"

namespace nacre {
namespace {

constexpr int relief_pauses_max = 4;  // the pause between its polls grows to so many times the first

}  // namespace

void thread_crew::poll_alone() {
  lane& on = progress_lane();
  on.reader_.online();
  backoff pause;
  std::uint64_t moved_at = instant();
  std::uint32_t looks = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {  // only a flag
    on.reader_.quiescent();
    const bool spins = instant() - moved_at < spin_ticks_;
    if (link_.progress(on, !spins || ++looks % looks_for_a_thorough_one == 0)) {
      moved_at = instant();
      pause.reset();
    } else if (spins) {
      pause.pause();
    } else {
      on.reader_.offline();
      watched_ = true;
      link_.wait(sleep_max);
      watched_ = false;
      on.reader_.online();
    }
  }
  on.reader_.offline();
}

void thread_crew::relieve() {
  lane& on = progress_lane();
  const std::chrono::nanoseconds pause_max = tuning_.patience * relief_pauses_max;
  std::chrono::nanoseconds pause = tuning_.patience;
  std::uint64_t turns = 0;
  while (!stopping_) {
    relief_parker_.park_for(pause);
    if (idle_workers() != 0) {
      relief_asleep_ = true;
      if (idle_workers() != 0 && !stopping_) relief_parker_.park_for(sleep_max);
      relief_asleep_ = false;
    }
    bool helped = false;
    if (link_.turns() == turns) {
      on.reader_.online();
      helped = link_.progress(on);
      on.reader_.offline();
    }
    turns = link_.turns();
    pause = helped ? tuning_.patience : std::min(pause * 2, pause_max);
  }
}

}  // namespace nacre
