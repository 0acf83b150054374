// SPDX-License-Identifier: Apache-2.0
// Whether a person reads standard error as it is written.
#include "base/terminal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace nacre {

bool errors_reach_terminal() noexcept {
  if (::isatty(STDERR_FILENO) == 1) return true;
  if (std::getenv("NACRE_JOB_TERMINAL") == nullptr) return false;
  struct stat about {};
  return ::fstat(STDERR_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
}

}  // namespace nacre
