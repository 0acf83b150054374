// SPDX-License-Identifier: Apache-2.0
// Job credentials: the data that a launcher hands to each process that it starts as a rank of a job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/ids.hpp>

#include "join/net/socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::launch {

/// All that a process needs to join its job.
struct job_credentials {
  rank_id rank;
  std::uint32_t size = 0;
  std::uint32_t ranks_on_host = 0;  ///< of this job, this one included; they share its cores
  std::uint32_t place_on_host = 0;  ///< the position of this one among them
  std::string control_address;      ///< address of the launcher, "127.0.0.1:4711"
  job_secret secret;
};

/// The position of a rank among those of its job on one host.
struct host_share {
  std::uint32_t ranks = 0;
  std::uint32_t place = 0;
};

/// The launcher's choices for all ranks, besides their credentials. An empty text: it has made none.
struct launcher_choices {
  std::string transport;  ///< name of a backend
  std::string restore;    ///< folder of images, or one of them, from which the job goes on
  std::string mark;       ///< of the job in its images
  std::string life;       ///< number of this start of the job, in digits, from the second one on
};

/// The credentials as variables of an environment, each "NACRE_JOB_NAME=value". The secret is not among them, since
/// other processes may read /proc/<pid>/environ. The process inherits `secret_descriptor` and reads the secret there.
[[nodiscard]] std::vector<std::string> job_variables(rank_id rank, std::uint32_t size,
                                                     const std::string& control_address, int secret_descriptor,
                                                     host_share share);

/// The choices that have been made, each "NACRE_JOB_NAME=value".
[[nodiscard]] std::vector<std::string> variables_of(const launcher_choices& choices);

/// Whether the "NAME=value" of an environment belongs to job credentials: a new process must not inherit older ones.
[[nodiscard]] bool is_job_variable(std::string_view variable) noexcept;

/// The end of a pipe that holds the secret and nothing else. Closed on exec, until the child has cleared that.
[[nodiscard]] net::unique_fd make_secret_pipe(const job_secret& secret);

/// Takes credentials and choices out of this process's environment, so that programs it starts are not taken for ranks
/// and begin by themselves. Once in a process: throws setup_error the second time, and when credentials are damaged.
/// Not while other threads use the environment.
[[nodiscard]] job_credentials take_job_credentials();

/// The choices for this process, before and after the call of take_job_credentials. All are empty in a process that is
/// no rank.
[[nodiscard]] launcher_choices choices_of_launcher();

/// True when `nacre run` has started this process as a rank of a job.
[[nodiscard]] bool started_by_launcher() noexcept;

}  // namespace nacre::launch
