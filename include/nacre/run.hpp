// SPDX-License-Identifier: Apache-2.0
// The entry of a program into Nacre.
#pragma once

#include <functional>

#include <nacre/config.hpp>
#include <nacre/runtime.hpp>

namespace nacre {

/// Starts the ranks of this process, calls `main` once on each, waits for global quiescence, and ends them. Options are
/// taken from the command line (`--nacre.name=value`; they are removed from argv), the environment (`NACRE_NAME`) and
/// the file that --nacre.config names. Returns 0, or non-zero after one line on stderr when an option is wrong, the job
/// could not start, or a file asked for could not be written. Returns 75 when a signal has asked for a last image,
/// behind which the job has ended (docs/checkpoints.md); a process that ends with 0 all the same ends with 75. A rank
/// that fails later ends its process with one line and exit code 1, because other ranks may be anywhere in user code;
/// `run` does not return then. `--nacre.help` prints the table of options and returns 0. With no option: one rank, as
/// many workers as cores.
int run(int& argc, char** argv, const std::function<void(runtime&)>& main);

/// Runs `main` on the ranks of this process with a configuration built in code, and returns as above. Option names are
/// checked when it starts.
int run(const config& configuration, const std::function<void(runtime&)>& main);

/// The configuration that run(argc, argv, ...) would use; throws setup_error. For programs that parse their own options
/// and want to see those of Nacre first.
[[nodiscard]] config read_config(int& argc, char** argv);

/// The version, as in "0.2.0".
[[nodiscard]] const char* version() noexcept;

}  // namespace nacre
