// SPDX-License-Identifier: Apache-2.0
// What a command prints, and whether it has got there.
#pragma once

#include <string_view>

namespace nacre::tool {

/// The code to exit with when what was to be printed is lost.
inline constexpr int lost_output_code = 1;

/// To standard output. A problem is told by `finish_output`. One thread.
void print(std::string_view text);

/// The last thing that a command does: writes what is left. Where something could not be written, one line on standard
/// error says why, and 0 becomes lost_output_code; not where a pipe has been closed, since whoever read it has had
/// enough. Returns the code to exit with.
[[nodiscard]] int finish_output(int code);

}  // namespace nacre::tool
