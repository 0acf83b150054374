// SPDX-License-Identifier: Apache-2.0
// A process that kills the ranks of a launcher when the launcher dies.
#pragma once

#include <sys/types.h>

#include <string>

#include "join/net/socket.hpp"

namespace nacre::tool {

/// Kills POSIX process groups when the launcher, the process that made the orphan killer, ends in any way, SIGKILL
/// included. The kernel kills a rank with its launcher (PR_SET_PDEATHSIG), but not the processes that the rank has
/// started, such as the program that a script runs. The supervisor (supervisor.hpp) is another thing: it runs inside
/// the launcher, and decides how a job ends.
///
/// The orphan killer is a child process in a session of its own, so signals for the launcher's group do not reach it.
/// It reads the launcher's commands from a pipe. Only the launcher holds the write end, so end of file means that the
/// launcher has ended.
///
/// Invariant: the leader of a group that the orphan killer kills has not been reaped, so no other group has its number.
/// The invariant holds because the launcher sends `remove_group` before it reaps the leader, and the orphan killer
/// reads all commands before it sees end of file.
class orphan_killer {
 public:
  /// Starts the process. `folder`: of the ranks' UCX, which it removes when it has killed them. Throws setup_error. The
  /// caller must be the only thread of its process.
  explicit orphan_killer(const std::string& folder);
  orphan_killer(const orphan_killer&) = delete;
  orphan_killer& operator=(const orphan_killer&) = delete;
  /// Ends the process, which first kills the groups that it still guards.
  ~orphan_killer();

  void add_group(pid_t group) noexcept { say(group); }
  void remove_group(pid_t group) noexcept { say(-group); }

 private:
  void say(pid_t word) noexcept;

  net::unique_fd words_;
  pid_t pid_ = 0;
};

}  // namespace nacre::tool
