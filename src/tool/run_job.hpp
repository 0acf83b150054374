// SPDX-License-Identifier: Apache-2.0
// Runs a job: one process for each rank, from their start to the end of the last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nacre::tool {

inline constexpr std::uint32_t ranks_max = 4096;

/// What a user asks nacre run for.
struct job_options {
  std::uint32_t ranks = 1;             ///< 1 to ranks_max
  std::string transport = "shm";       ///< a backend that processes can join
  std::string config;                  ///< a file with configuration; may be empty
  bool label = false;                  ///< put [rank] in front of each line of output
  std::vector<std::string> arguments;  ///< the program first
};

/// Runs it to its end. Blocks the signals that it watches, and is to be the only thread of its process. Standard input
/// goes to rank 0. Returns the exit code for the process: 0 when every rank returned 0. Throws setup_error when the job
/// cannot begin; ranks that have been started are killed.
[[nodiscard]] int run_job(const job_options& options);

}  // namespace nacre::tool
