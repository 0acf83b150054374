// SPDX-License-Identifier: Apache-2.0
// Starts one process of a job and holds what the launcher needs of it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/net/socket.hpp"

namespace nacre::tool {

using transport::net::unique_fd;

/// What to execute. `path` is that of a file; nothing is searched for.
struct command {
  std::string path;
  std::vector<std::string> arguments;    ///< the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};

/// What a process inherits, apart from pipes for its standard output and error.
struct inheritance {
  int standard_input = -1;  ///< becomes descriptor 0; -1: nothing to be read
  int kept = -1;            ///< stays open under its own number
};

/// A process that leads a group of its own, and its output. Does not kill or reap anything.
struct rank_process {
  pid_t pid = 0;
  unique_fd output;  ///< non-blocking ends of pipes
  unique_fd error;
};

/// Starts it. It is killed when the calling process dies, even by SIGKILL. Blocked signals are unblocked in it, and
/// ignored ones restored. Throws setup_error when the file cannot be executed. Not beside other threads.
[[nodiscard]] rank_process start_process(const command& what, const inheritance& with);

}  // namespace nacre::tool
