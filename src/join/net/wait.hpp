// SPDX-License-Identifier: Apache-2.0
// Sleeping on descriptors with a deadline, for code that may block while a job is set up.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "join/net/socket_handshake.hpp"

namespace nacre::net {

/// Milliseconds from now to the deadline as poll takes them: rounded up, at least 0.
[[nodiscard]] inline int milliseconds_until(time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<milliseconds::rep>(left, 0, std::numeric_limits<int>::max()));
}

/// Sleeps until one of the descriptors is ready, or the deadline, or a signal.
inline void wait_until(std::span<pollfd> watched, time_point deadline) {
  ::poll(watched.data(), watched.size(), milliseconds_until(deadline));
}

inline void wait_until(int descriptor, bool to_write, time_point deadline) {
  pollfd watched{.fd = descriptor, .events = static_cast<short>(POLLIN | (to_write ? POLLOUT : 0)), .revents = 0};
  wait_until(std::span(&watched, 1), deadline);
}

}  // namespace nacre::net
