// SPDX-License-Identifier: Apache-2.0
// Starts one process of a job and holds its process id and its output pipes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "join/net/socket.hpp"

namespace nacre::tool {

using net::unique_fd;

/// A program to execute. `path` names a file; PATH is not searched.
struct command {
  std::string path;
  std::vector<std::string> arguments;    ///< the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};

/// Descriptors that a process inherits, besides the pipes for its standard output and error.
struct inheritance {
  int standard_input = -1;  ///< becomes descriptor 0; -1: /dev/null
  int kept = -1;            ///< stays open under its own number
};

/// A process that leads a POSIX process group of its own, and its output. The destructor neither kills nor reaps it.
struct rank_process {
  pid_t pid = 0;
  unique_fd output;  ///< non-blocking ends of pipes
  unique_fd error;
};

/// Starts a process. The kernel kills it when the calling process dies, even by SIGKILL. All signals are unblocked in
/// it, and SIGPIPE has its default action. Throws setup_error when the file cannot be executed. The caller must be the
/// only thread of its process.
[[nodiscard]] rank_process start_process(const command& command, const inheritance& inheritance);

}  // namespace nacre::tool
