// SPDX-License-Identifier: Apache-2.0
// Printing to standard output, and the report at exit of a failed write.
#pragma once

#include <string_view>

namespace nacre {

/// The exit code when output could not be written.
inline constexpr int lost_output_code = 1;

/// Writes to standard output. A failed write is reported when the process exits. One thread.
void print(std::string_view text);

/// From now on the process flushes standard output at exit. If a write failed, one line on standard error says why, and
/// an exit code of 0 becomes lost_output_code. A closed pipe (EPIPE) is no failure: its reader needs no more. Further
/// calls have no effect.
void check_output_at_exit();

}  // namespace nacre
