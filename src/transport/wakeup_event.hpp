// SPDX-License-Identifier: Apache-2.0
// A doorbell for a thread that sleeps on an epoll instance.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "join/net/socket.hpp"

namespace nacre::transport {

/// An eventfd. `ring` may be called by every thread; the thread that has slept silences it.
class wakeup_event {
 public:
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }
  void ring() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t bytes = ::write(event_.get(), &one, sizeof one);  // full only when it rings already
  }
  void silence() const noexcept {
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t bytes = ::read(event_.get(), &rings, sizeof rings);  // usually nothing is there
  }

 private:
  net::unique_fd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

}  // namespace nacre::transport
