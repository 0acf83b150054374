// SPDX-License-Identifier: Apache-2.0
// The futex in shared memory on which a rank sleeps until another rank, or a thread of its own, wakes it.
#include "transport/shm/futex_wakeup.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace nacre::transport::shm {

void sleep_until_wakeup(segment_head& head, std::chrono::nanoseconds timeout) noexcept {
  const timespec relative{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                          .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  ::syscall(SYS_futex, &head.futex_wakeup, FUTEX_WAIT, 1, &relative, nullptr, 0);
}

void wake_sleeper(segment_head& head) noexcept {
  if (shared(head.futex_wakeup).exchange(0) == 1)
    ::syscall(SYS_futex, &head.futex_wakeup, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace nacre::transport::shm
