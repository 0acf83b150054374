// SPDX-License-Identifier: Apache-2.0
// The processes of a job's ranks on one host: their start, their signals and their ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/crew.hpp"
#include "tool/guardian.hpp"
#include "tool/rank_process.hpp"
#include "wire/job_secret.hpp"

namespace nacre::tool {

/// What the ranks of one job on one host have in common.
struct rank_recipe {
  command what;  ///< without the variables of a ticket
  job_secret secret;
  std::string rendezvous;           ///< where the launcher listens for ranks
  std::uint32_t size = 0;           ///< ranks of the job
  std::uint32_t ranks_on_host = 0;  ///< of them, here
};

/// One thread; the only user of processes and of SIGCHLD in it. When its process dies, all that its ranks have started
/// in their process groups is killed.
class rank_group {
 public:
  rank_group() = default;
  rank_group(const rank_group&) = delete;
  rank_group& operator=(const rank_group&) = delete;
  /// Kills what runs.
  ~rank_group();

  /// Starts a rank; `standard_input` as in inheritance. Returns its process, whose output is the caller's. Throws
  /// setup_error.
  [[nodiscard]] rank_process start(std::uint32_t rank, const rank_recipe& recipe, int standard_input);

  /// Appends whose process has ended since the last call.
  void reap(std::vector<rank_end>& ends);
  /// For the process groups of those that run.
  void signal(int number) const noexcept;
  /// From now on, whatever a rank has started ends with it.
  void job_ends() noexcept { job_ends_ = true; }

  [[nodiscard]] std::uint32_t running() const noexcept { return running_; }

 private:
  struct process {
    std::uint32_t rank = 0;
    pid_t pid = 0;
    bool running = true;
  };

  guardian guardian_;
  std::vector<process> processes_;
  std::uint32_t running_ = 0;
  bool job_ends_ = false;
};

/// Room in the table of open files. Throws setup_error that says how much `whom` needs.
void raise_limit_of_files(std::uint64_t needed, const std::string& whom);

}  // namespace nacre::tool
