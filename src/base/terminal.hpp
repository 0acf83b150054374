// SPDX-License-Identifier: Apache-2.0
// Whether a person reads standard error as it is written.
#pragma once

namespace nacre {

/// Whether lines on standard error reach a terminal: it is one, or it is the pipe of a launcher that has said so by
/// NACRE_JOB_TERMINAL. Any thread that does not change the environment.
[[nodiscard]] bool errors_reach_terminal() noexcept;

}  // namespace nacre
