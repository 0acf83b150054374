// SPDX-License-Identifier: Apache-2.0
// Printing to standard output, and the report at exit of a failed write.
#include "program_options/standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/terminal.hpp"
#include "program_options/program_options.hpp"

namespace nacre {
namespace {

int first_problem = 0;  // an errno value

/// exit calls this with the exit code.
void finish_output(int code, void*) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed && first_problem == 0) first_problem = errno;
  if ((flushed && std::ferror(stdout) == 0) || first_problem == EPIPE) return;
  std::fprintf(stderr, "%s: standard output cannot be written: %s\n", program_invocation_short_name,
               std::strerror(first_problem == 0 ? EIO : first_problem));
  if ((code & 0xff) == 0) ::_exit(lost_output_code);
}

}  // namespace

void print(std::string_view text) {
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole && first_problem == 0) first_problem = errno;
}

void check_output_at_exit() {
  static const int registered = ::on_exit(&finish_output, nullptr);
  static_cast<void>(registered);  // on failure (no memory), exit does not check
}

bool progress_is_seen() noexcept { return errors_reach_terminal(); }

}  // namespace nacre
