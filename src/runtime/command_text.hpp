// SPDX-License-Identifier: Apache-2.0
// The command line of this process, for people.
#pragma once

#include <string>

namespace nacre {

/// Program and arguments, separated by spaces, without Nacre's own options. Empty when the system does not tell.
[[nodiscard]] std::string text_of_command();

/// The mark of the job in its images, which `nacre run --survive` gives it; else empty.
[[nodiscard]] std::string mark_of_job();

}  // namespace nacre
