// SPDX-License-Identifier: Apache-2.0
// The processes of a job's ranks, on this host or on others, behind one interface for the launcher's loop.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tool/supervisor.hpp"

namespace nacre::tool {

/// A rank's process has ended.
struct rank_end {
  std::uint32_t rank = 0;
  ending outcome;
};

/// All ranks of a job as processes. No function blocks. The destructor kills the ranks that still run. One thread.
class process_group {
 public:
  virtual ~process_group() = default;

  /// Appends the descriptors to poll. SIGCHLD, which the caller watches, must wake it as well.
  virtual void watch(std::vector<pollfd>& watched) const = 0;
  /// Does all work that does not block, and appends the ranks that have ended. `child`: a child process of the launcher
  /// may have ended. Throws setup_error when ranks cannot be started.
  virtual void serve(time_point now, bool child, std::vector<rank_end>& ends) = 0;

  /// Sends the signal to the POSIX process group of every rank that runs.
  virtual void signal(int number) = 0;
  /// From now on, all processes that a rank has started are killed when the rank ends.
  virtual void job_ends() = 0;
  /// Whether output may still come after all ranks have ended.
  [[nodiscard]] virtual bool has_output() const = 0;
  /// How long to wait for that output while it can be printed: a process may outlive the rank that has started it.
  [[nodiscard]] virtual std::chrono::milliseconds last_output_time() const { return std::chrono::milliseconds(500); }
};

}  // namespace nacre::tool
