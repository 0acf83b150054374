// SPDX-License-Identifier: Apache-2.0
// Registration of descriptors with an epoll instance.
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>

#include <nacre/error.hpp>

#include "transport/net/socket.hpp"

namespace nacre::transport::net {

/// What an epoll instance is to tell about a descriptor: that it can be read, and perhaps written; as long as it can.
struct watched {
  int events = -1;  ///< the instance
  int descriptor = -1;
  std::uint64_t tag = 0;  ///< comes with each event
  bool to_write = false;
};

/// Adds, changes or removes (EPOLL_CTL_ADD, _MOD, _DEL). Throws setup_error, which happens for want of memory alone.
inline void watch(const watched& what, int operation) {
  epoll_event event{};
  event.events = EPOLLIN | (what.to_write ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.u64 = what.tag;
  if (::epoll_ctl(what.events, operation, what.descriptor, &event) == 0) return;
  throw setup_error({.problem = "cannot watch a socket: " + error_text(errno),
                     .why = "connections are served when they have something to say",
                     .remedy = "raise the limits of open files (ulimit -n) and of memory"});
}

}  // namespace nacre::transport::net
