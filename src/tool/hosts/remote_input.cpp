// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, on its way to rank 0 on another host.
#include "tool/hosts/remote_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace nacre::tool {

remote_input::remote_input() noexcept
    : open_(::fcntl(STDIN_FILENO, F_GETFD) >= 0 &&
            (::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp())) {}

std::optional<std::string> remote_input::read() {
  pollfd watched{.fd = source(), .events = POLLIN, .revents = 0};
  if (watched.fd < 0 || ::poll(&watched, 1, 0) <= 0) return std::nullopt;
  std::array<char, 16 * 1024> buffer;
  const ssize_t bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  wanted_ = false;
  if (bytes <= 0) open_ = false;
  return std::string(buffer.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
}

void remote_input::taken(bool more) noexcept {
  wanted_ = true;
  open_ = open_ && more;
}

}  // namespace nacre::tool
