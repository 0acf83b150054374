// SPDX-License-Identifier: Apache-2.0
// The standard descriptors and the standard output of this process, as its parent has left them.
#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace nacre {

void occupy_standard_descriptors() noexcept {
  int lowest = STDIN_FILENO;
  while (lowest <= STDERR_FILENO && ::fcntl(lowest, F_GETFD) >= 0) ++lowest;
  while (lowest <= STDERR_FILENO) {
    lowest = ::open("/dev/null", O_RDONLY);  // the lowest free number
    if (lowest < 0) return;
    if (lowest > STDERR_FILENO) ::close(lowest);
  }
}

void write_output_by_line() noexcept {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  if (::__fbufsize(stdout) != 0) return;
  static std::array<char, BUFSIZ> buffer;  // stdout uses it until the process ends
  std::setvbuf(stdout, buffer.data(), _IOLBF, buffer.size());
}

}  // namespace nacre
