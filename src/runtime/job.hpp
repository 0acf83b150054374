// SPDX-License-Identifier: Apache-2.0
// The ranks of a job that live in this process.
#pragma once

#include <cstdint>
#include <functional>

#include <nacre/config.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

/// How a job was. Apart from `left_all` it is for those who compare simulated runs, and zero on real threads.
struct job_report {
  bool left_all = true;  ///< false: a file that was asked for could not be written at the end, which has been printed
  double seconds = 0;    ///< virtual time at the end
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;  ///< of everything that happened, in order
};

/// Opens the transport, runs `main` on every local rank until global quiescence, and closes. Throws setup_error before
/// any of its mains has started. A rank that fails later ends the process with one line on stderr and code 1: other
/// ranks may be anywhere in user code, and nothing of the job is worth keeping.
job_report run_job(const config& configuration, const std::function<void(runtime&)>& main);

/// For a process that has printed why it is about to end: returns when the launcher, if there is one, has read that,
/// after half a second at most. mpirun may stop to read when it sees the end.
void let_launcher_read();

}  // namespace nacre
