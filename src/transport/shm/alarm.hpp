// SPDX-License-Identifier: Apache-2.0
// The word in shared memory on which a rank sleeps until another one, or itself, rings.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// Makes a system call only when the rank sleeps. Any thread of any rank.
///
/// | alarm | sleeper | ringer |
/// |---|---|---|
/// | 0, awake | sets 1, looks at everything that could be there, then sleeps in the futex if it is still 1 | looks,
/// nothing more | | 1, asleep | on return sets 0 | sets 0, wakes |
///
/// What a ringer has published before it looks (seq_cst on both sides) is seen by the sleeper's look, or the ringer
/// sees the 1.
inline void announce_sleep(segment_head& own) noexcept { shared(own.alarm).store(1); }
/// After announce_sleep; returns early on a signal, or without a reason.
void sleep_until_alarm(segment_head& own, std::chrono::nanoseconds timeout) noexcept;
inline void end_sleep(segment_head& own) noexcept {
  shared(own.alarm).store(0, std::memory_order_relaxed);  // who still sees the 1 makes a system call for nothing
}
void wake_sleeper(segment_head& head) noexcept;
inline void ring_alarm(segment_head& head) noexcept {
  if (shared(head.alarm).load() == 1) wake_sleeper(head);
}

}  // namespace nacre::transport::shm
