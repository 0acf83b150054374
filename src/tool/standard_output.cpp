// SPDX-License-Identifier: Apache-2.0
// What a command prints, and whether it has got there.
#include "tool/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nacre::tool {
namespace {

int first_problem = 0;  // as errno tells it

}  // namespace

void print(std::string_view text) {
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole && first_problem == 0) first_problem = errno;
}

int finish_output(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed && first_problem == 0) first_problem = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  if (first_problem == EPIPE) return code;
  std::fprintf(stderr, "nacre: standard output cannot be written: %s\n",
               std::strerror(first_problem == 0 ? EIO : first_problem));
  return code == EXIT_SUCCESS ? lost_output_code : code;
}

}  // namespace nacre::tool
