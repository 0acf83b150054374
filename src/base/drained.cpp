// SPDX-License-Identifier: Apache-2.0
// Waits until the reader of a pipe has read all bytes that were written to the pipe.
#include "base/drained.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <thread>

namespace nacre {

bool drained(int descriptor, std::chrono::milliseconds timeout) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return true;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    int left = 0;
    if (::ioctl(descriptor, FIONREAD, &left) != 0 || left == 0) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // the system reports no event for an empty pipe
  }
}

}  // namespace nacre
