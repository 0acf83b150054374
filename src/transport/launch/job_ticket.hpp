// SPDX-License-Identifier: Apache-2.0
// What a launcher hands to each process that it starts as a rank of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nacre/ids.hpp>

#include "transport/net/socket.hpp"
#include "wire/job_secret.hpp"

namespace nacre::transport::launch {

/// All that a process needs to join its job.
struct job_ticket {
  rank_id rank;
  std::uint32_t size = 0;
  std::uint32_t ranks_on_host = 0;  ///< of this job, this one included; they share its cores
  std::string rendezvous;           ///< address of the launcher, "127.0.0.1:4711"
  job_secret secret;
};

/// The ticket as variables of an environment, each "NACRE_JOB_NAME=value". The secret is not among them, since others
/// may read /proc/<pid>/environ: the process inherits `secret_descriptor` and reads it there.
[[nodiscard]] std::vector<std::string> ticket_variables(rank_id rank, std::uint32_t size, const std::string& rendezvous,
                                                        int secret_descriptor, std::uint32_t ranks_on_host);

/// Whether the "NAME=value" of an environment belongs to a ticket: an older one must not reach a new process.
[[nodiscard]] bool is_ticket_variable(std::string_view variable) noexcept;

/// The end of a pipe that holds the secret and nothing else. Closed on exec, until the child has cleared that.
[[nodiscard]] net::unique_fd make_secret_pipe(const job_secret& secret);

/// Takes the ticket out of this process's environment, so that programs it starts are not taken for ranks. Once a
/// process: throws setup_error the second time, and when the ticket is damaged. Not beside threads that use the
/// environment.
[[nodiscard]] job_ticket take_job_ticket();

}  // namespace nacre::transport::launch
