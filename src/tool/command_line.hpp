// SPDX-License-Identifier: Apache-2.0
// The commands of `nacre` and their options.
#pragma once

namespace nacre::tool {

/// Does what the arguments of main say and returns the exit code: 2 for arguments that make no sense, with a line on
/// standard error, and 1 when what was to be printed could not be.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace nacre::tool
