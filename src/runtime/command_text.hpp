// SPDX-License-Identifier: Apache-2.0
// The command line of this process, for people.
#pragma once

#include <cstdint>
#include <string>

namespace nacre {

/// Program and arguments, separated by spaces, without Nacre's own options. Empty when the system does not tell.
[[nodiscard]] std::string text_of_command();

/// The mark of the job in its images, which `nacre run --survive` gives it; else empty.
[[nodiscard]] std::string mark_of_job();

/// The number of this life of the job that `nacre run` has started again; 1 in the first one, and without it.
[[nodiscard]] std::uint32_t life_of_job();

}  // namespace nacre
