// SPDX-License-Identifier: Apache-2.0
// Commands of the shell, for tests of programs.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace nacre::tests {

struct shell_outcome {
  int exit_code = -1;    ///< 128 and the signal's number for a command that was killed
  std::string output{};  ///< its standard output
};

/// Runs a command for at most 100 s, after which it is stopped.
[[nodiscard]] inline shell_outcome run_in_shell(const std::string& command) {
  FILE* const pipe = popen(("timeout 100 " + command).c_str(), "r");
  if (pipe == nullptr) return {};
  shell_outcome got;
  std::array<char, 4096> buffer;
  while (const std::size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe))
    got.output.append(buffer.data(), bytes);
  const int status = pclose(pipe);
  got.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return got;
}

}  // namespace nacre::tests
