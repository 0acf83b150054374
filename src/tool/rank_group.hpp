// SPDX-License-Identifier: Apache-2.0
// The processes of a job's ranks on one host: their start, their signals and their ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/orphan_killer.hpp"
#include "tool/process_group.hpp"
#include "tool/rank_process.hpp"
#include "tool/ucx_folder.hpp"
#include "wire/job_secret.hpp"

namespace nacre::tool {

/// All that is common to the ranks of one job on one host.
struct rank_launch_spec {
  command program;  ///< without the variables of launch::job_variables
  job_secret secret;
  std::string control_address;      ///< where the launcher listens for ranks
  std::uint32_t size = 0;           ///< ranks of the job
  std::uint32_t ranks_on_host = 0;  ///< ranks of the job on this host
};

/// Starts, signals and reaps the ranks of one host. When the process that holds the rank_group dies, all processes in
/// the POSIX process groups of the ranks are killed. One thread. No other code of this thread may start processes or
/// use SIGCHLD.
class rank_group {
 public:
  rank_group() = default;
  rank_group(const rank_group&) = delete;
  rank_group& operator=(const rank_group&) = delete;
  /// Kills the ranks that still run, and removes the files that UCX has left of all of them.
  ~rank_group();

  /// Starts a rank; `standard_input` as in inheritance. The caller owns the output pipes of the process returned.
  /// Throws setup_error.
  [[nodiscard]] rank_process start(std::uint32_t rank, const rank_launch_spec& rank_spec, int standard_input);

  /// Appends the ranks that have ended since the last call.
  void reap(std::vector<rank_end>& ends);
  /// Sends the signal to the POSIX process group of every rank that runs.
  void signal(int number) const noexcept;
  /// From now on, all processes that a rank has started are killed when the rank ends.
  void job_ends() noexcept { job_ends_ = true; }

  [[nodiscard]] std::uint32_t running() const noexcept { return running_; }

 private:
  struct process {
    std::uint32_t rank = 0;
    pid_t pid = 0;
    bool running = true;
  };

  ucx_folder ucx_;
  orphan_killer orphan_killer_{ucx_.path()};
  std::vector<process> processes_;
  std::uint32_t running_ = 0;
  bool job_ends_ = false;
};

/// Raises the limit of open files to `needed`. Throws setup_error if the hard limit is lower; `user` begins its
/// message.
void raise_limit_of_files(std::uint64_t needed, const std::string& user);

}  // namespace nacre::tool
