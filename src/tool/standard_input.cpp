// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, which belongs to rank 0.
#include "tool/standard_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace nacre::tool {

standard_input::standard_input() {
  if (::isatty(STDIN_FILENO) == 0) {
    if (::fcntl(STDIN_FILENO, F_GETFD) >= 0) inherited_ = STDIN_FILENO;
    return;
  }
  std::array<int, 2> ends{};
  if (!in_foreground() || ::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  pipe_out_.reset(ends[0]);
  pipe_in_.reset(ends[1]);
  ::fcntl(pipe_in_.get(), F_SETFL, O_NONBLOCK);
  forwarding_ = true;
}

bool standard_input::in_foreground() noexcept { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

void standard_input::pump() {
  std::array<pollfd, 2> ends{
      {{.fd = source(), .events = POLLIN, .revents = 0}, {.fd = target(), .events = POLLOUT, .revents = 0}}};
  if (!forwarding_ || ::poll(ends.data(), ends.size(), 0) <= 0) return;
  if (waiting_.empty()) {
    std::array<char, 4096> line;
    const ssize_t bytes = ::read(STDIN_FILENO, line.data(), line.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (bytes <= 0) {
      forwarding_ = false;
      return pipe_in_.reset();
    }
    waiting_.assign(line.data(), static_cast<std::size_t>(bytes));
  }
  const ssize_t written = ::write(pipe_in_.get(), waiting_.data(), waiting_.size());
  if (written >= 0) {
    waiting_.erase(0, static_cast<std::size_t>(written));
  } else if (errno != EAGAIN && errno != EINTR) {  // the rank has closed its input, or has ended
    forwarding_ = false;
    pipe_in_.reset();
  }
}

}  // namespace nacre::tool
