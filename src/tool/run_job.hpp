// SPDX-License-Identifier: Apache-2.0
// Runs a job: one process for each rank, from their start to the end of the last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/hosts/host_plan.hpp"

namespace nacre::tool {

inline constexpr std::uint32_t ranks_max = 4096;

/// How ranks come to other hosts.
struct remote_options {
  std::vector<std::string> shell;  ///< words of the remote shell
  std::string nacre;               ///< the path of nacre on the hosts
  std::string address;             ///< of this host, numeric; empty: chosen
  std::string folder;              ///< to run in, also without hosts; empty: the current one
};

/// What a user asks nacre run for.
struct job_options {
  std::uint32_t ranks = 1;             ///< 1 to ranks_max
  std::vector<host_share> hosts;       ///< where they run; empty: all here, started without a shell
  remote_options remote;               ///< for hosts
  std::string transport = "shm";       ///< a backend that processes can join
  std::string config;                  ///< absolute path of a file with configuration; may be empty
  bool label = false;                  ///< put [rank] in front of each line of output
  std::vector<std::string> variables;  ///< "NAME=value", for every rank
  std::vector<std::string> arguments;  ///< the program first
};

/// Runs it to its end. Blocks the signals that it watches, enters the ranks' folder if they run here, and is to be the
/// only thread of its process. Standard input goes to rank 0. Returns the exit code for the process: 0 when every rank
/// returned 0. Throws setup_error when the job cannot begin; ranks that have been started are killed.
[[nodiscard]] int run_job(const job_options& options);

}  // namespace nacre::tool
