// SPDX-License-Identifier: Apache-2.0
// A process that kills the ranks of a launcher when the launcher dies.
#pragma once

#include <sys/types.h>

#include "transport/net/socket.hpp"

namespace nacre::tool {

/// Kills process groups when the process that made it ends in whatever way, SIGKILL included. The kernel kills a rank
/// with its launcher (PR_SET_PDEATHSIG), but not what the rank has started, such as the program that a script runs.
///
/// The guardian is a process of its own, a child in a session of its own, which no signal for the launcher's group
/// reaches. It reads the launcher's words from a pipe. Only the launcher holds the other end, so the end of the pipe is
/// the end of the launcher.
///
/// Invariant: a group that the guardian kills has not been reaped, so its number is not that of another one. This holds
/// because the launcher says `forget` before it reaps the group's first process, and the guardian reads all words
/// before it finds the end of the pipe.
class guardian {
 public:
  /// Starts it. Throws setup_error. Not beside other threads.
  guardian();
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;
  /// Ends it; what it still guards is killed.
  ~guardian();

  void guard(pid_t group) noexcept { say(group); }
  void forget(pid_t group) noexcept { say(-group); }

 private:
  void say(pid_t word) noexcept;

  transport::net::unique_fd words_;
  pid_t pid_ = 0;
};

}  // namespace nacre::tool
