// SPDX-License-Identifier: Apache-2.0
// The ranks of a job that live in this process.
#pragma once

#include <cstdint>
#include <functional>

#include <nacre/config.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

/// The result of a job. Tests compare simulated runs by the members other than `left_all`, which are zero on real
/// threads.
struct job_report {
  int code = 0;          ///< exit code of a job that ends before its work is done; see checkpoints::exit_code
  bool left_all = true;  ///< false: a file asked for could not be written at the end; the error has been printed
  double seconds = 0;    ///< virtual time at the end
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;  ///< of all events, in order
};

/// Opens the transport, runs `main` on every local rank until global quiescence, and closes. Throws setup_error, but
/// only before the first main has started. A rank that fails later ends the process with one line on stderr and code 1:
/// other ranks may be anywhere in user code, and nothing of the job is worth keeping.
job_report run_job(const config& configuration, const std::function<void(runtime&)>& main);

/// Waits until the launcher, if there is one, has read the output of this process, for half a second at most. To be
/// called between the last line and the end of the process: mpirun may stop reading when it sees the end.
void let_launcher_read();

}  // namespace nacre
