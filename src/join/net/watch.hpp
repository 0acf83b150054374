// SPDX-License-Identifier: Apache-2.0
// Registration of descriptors with an epoll instance, and sleeping on it.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include <nacre/error.hpp>

#include "join/net/socket.hpp"

namespace nacre::net {

/// The registration of a descriptor with an epoll instance: level-triggered, for reading and, optionally, writing.
struct watched {
  int events = -1;  ///< the instance
  int descriptor = -1;
  std::uint64_t tag = 0;  ///< comes with each event
  bool to_write = false;
};

/// Adds, changes or removes (EPOLL_CTL_ADD, _MOD, _DEL). Returns 0, or the errno, which happens for want of memory, or
/// of watches that one user may have.
[[nodiscard]] inline int try_watch(const watched& watched, int operation) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | (watched.to_write ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.u64 = watched.tag;
  return ::epoll_ctl(watched.events, operation, watched.descriptor, &event) == 0 ? 0 : errno;
}

/// The error of a try_watch that has failed.
[[nodiscard]] inline setup_error no_watch(int error) {
  const bool too_many = error == ENOSPC;  // the words for it speak of a device
  return setup_error(
      {.problem =
           "cannot watch a socket: " + (too_many ? "all ranks of this user here have too many" : error_text(error)),
       .why = "connections are served when they have something to say",
       .remedy = too_many ? "allow more of them (sysctl fs.epoll.max_user_watches), or start fewer ranks "
                            "on each host"
                          : "raise the limits of open files (ulimit -n) and of memory"});
}

/// try_watch that throws no_watch.
inline void watch(const watched& watched, int operation) {
  if (const int error = try_watch(watched, operation); error != 0) throw no_watch(error);
}

/// Sleeps until one of the descriptors of that instance is ready, the time is over (an hour at most), or a signal
/// comes. Exact to the nanosecond where the kernel has epoll_pwait2 (5.11), otherwise rounded up to milliseconds.
inline void sleep_on(int events, std::chrono::nanoseconds timeout) {
  using std::chrono::nanoseconds;
  timeout = std::clamp(timeout, nanoseconds::zero(), nanoseconds(std::chrono::hours(1)));
  const timespec exact{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                       .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  epoll_event ready{};
  if (::epoll_pwait2(events, &ready, 1, &exact, nullptr) >= 0 || errno != ENOSYS) return;
  ::epoll_wait(events, &ready, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()));
}

}  // namespace nacre::net
