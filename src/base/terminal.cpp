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
  struct stat status {};
  return ::fstat(STDERR_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace nacre
