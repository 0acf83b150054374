// SPDX-License-Identifier: Apache-2.0
// The futex in shared memory on which a rank sleeps until another rank, or a thread of its own, wakes it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "transport/shm/layout.hpp"

namespace nacre::transport::shm {

/// Waking makes a system call only when the rank sleeps. Any thread of any rank.
///
/// | futex_wakeup | sleeper | waker |
/// |---|---|---|
/// | 0, awake | sets 1, checks for work of every kind, then sleeps in the futex if it is still 1 | reads it |
/// | 1, asleep | sets 0 when it returns | sets 0, wakes |
///
/// Invariant: no wakeup is lost. The waker publishes its work and then reads the word; the sleeper sets the word and
/// then checks for work. All four accesses are seq_cst, so the sleeper sees the work or the waker sees the 1.
inline void announce_sleep(segment_head& head) noexcept { shared(head.futex_wakeup).store(1); }
/// Call it after announce_sleep. It may return early: on a signal, or spuriously.
void sleep_until_wakeup(segment_head& head, std::chrono::nanoseconds timeout) noexcept;
inline void end_sleep(segment_head& head) noexcept {
  shared(head.futex_wakeup).store(0, std::memory_order_relaxed);  // a late 1 costs one needless call
}
void wake_sleeper(segment_head& head) noexcept;
inline void wake_if_asleep(segment_head& head) noexcept {
  if (shared(head.futex_wakeup).load() == 1) wake_sleeper(head);
}

}  // namespace nacre::transport::shm
