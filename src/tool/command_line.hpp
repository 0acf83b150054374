// SPDX-License-Identifier: Apache-2.0
// The commands of `nacre` and their options.
#pragma once

namespace nacre::tool {

/// Runs the command that the arguments of main name, and returns the exit code: 2 for invalid arguments, after a line
/// on standard error, and 1 when standard output could not be written.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace nacre::tool
