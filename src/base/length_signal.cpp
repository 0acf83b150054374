// SPDX-License-Identifier: Apache-2.0
// The limit of a process on the length of files (ulimit -f) as an error of write.
#include "base/length_signal.hpp"

#include <ctime>

namespace nacre {

length_signal::length_signal() noexcept {
  ::sigemptyset(&blocked_);
  ::sigaddset(&blocked_, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

length_signal::~length_signal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void length_signal::take() const noexcept {
  const timespec at_once{};
  ::sigtimedwait(&blocked_, nullptr, &at_once);
}

}  // namespace nacre
