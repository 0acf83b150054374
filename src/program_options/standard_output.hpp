// SPDX-License-Identifier: Apache-2.0
// What a program prints, and whether it has got there.
#pragma once

#include <string_view>

namespace nacre {

/// The code to exit with when what was to be printed is lost.
inline constexpr int lost_output_code = 1;

/// To standard output. A problem is told when the process exits. One thread.
void print(std::string_view text);

/// From now on, when this process exits, what is left of standard output is written; where something could not be
/// written, one line on standard error says why, and the exit code 0 becomes lost_output_code. Not where a pipe has
/// been closed, since whoever read it has had enough. Call it again at will.
void check_output_at_exit();

}  // namespace nacre
