// SPDX-License-Identifier: Apache-2.0
// Runs a job: one process for each rank, from their start to the end of the last.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tool/hosts/host_plan.hpp"

namespace nacre::tool {

inline constexpr std::uint32_t ranks_max = 4096;

/// How ranks are started on other hosts.
struct remote_options {
  std::vector<std::string> shell;       ///< words of the remote shell
  std::string nacre;                    ///< the path of nacre on the hosts
  std::string address;                  ///< of this host, numeric; empty: own_address chooses
  std::string folder;                   ///< the ranks' folder, an absolute path; empty: the current one
  std::chrono::seconds start_time{30};  ///< from the start of a host's remote shell to the answer of its agent
};

/// The ends of ranks that the job outlives, if it has an image.
struct survival {
  bool deaths = false;   ///< a rank that is killed, or lost with its host
  bool errors = false;   ///< a rank that ends with an error of its own
  bool shrinks = false;  ///< without the rank that has died
};

/// The job that a user asks nacre run for.
struct job_options {
  std::uint32_t ranks = 1;             ///< 1 to ranks_max
  std::vector<host_share> hosts;       ///< where the ranks run; empty: here, without a shell
  remote_options remote;               ///< used only with hosts
  std::string transport = "shm";       ///< name of a backend that processes can join
  std::string config;                  ///< absolute path of a file with configuration; may be empty
  bool label = false;                  ///< put [rank] in front of each line of output
  std::vector<std::string> variables;  ///< "NAME=value", for every rank
  std::vector<std::string> arguments;  ///< the program first
  std::string images;                  ///< folder of images that the ranks write to; empty: none
  std::string restore;     ///< folder of images, or one of them, from which it begins; empty: by its own options
  std::string mark{};      ///< of the job in its images, by which it finds them; run_job draws it
  std::uint32_t life = 1;  ///< which start of the job this is; run_job counts
  survival survive{};
  int image_signal = 0;  ///< asks for a last image; 0: none does
  std::chrono::milliseconds image_grace{};
  std::string first_image{};   ///< as `restore`, or what the job's own options say
  std::uint32_t restarts = 3;  ///< in a row without a newer image
};

/// Runs the job to its end, over all its lives. Blocks the signals that it watches. Ranks here run in the current
/// folder. The caller must be the only thread of its process. Standard input goes to rank 0. Returns the exit
/// code for the process: 0 when every rank returned 0; 75 when the job has ended behind an image that a signal asked
/// for. When the job cannot begin, kills the ranks that run and throws setup_error.
[[nodiscard]] int run_job(const job_options& options);

}  // namespace nacre::tool
