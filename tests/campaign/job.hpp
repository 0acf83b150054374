// SPDX-License-Identifier: Apache-2.0
// One random program as a job: from a seed to a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/job.hpp"

namespace campaign {

struct verdict {
  std::vector<std::string> violations;
  nacre::job_report run;
  std::uint64_t messages = 0;
};

/// Runs the program of that seed on the machine of that seed. A promise whose breach the runtime sees itself ends the
/// process. `crowd_min`: see world.
[[nodiscard]] verdict run_seed(std::uint64_t seed, std::uint32_t crowd_min = 0);

/// A text with the machine and the options of a seed.
[[nodiscard]] std::string describe_seed(std::uint64_t seed, std::uint32_t crowd_min = 0);

}  // namespace campaign
