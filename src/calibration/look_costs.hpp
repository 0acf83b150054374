// SPDX-License-Identifier: Apache-2.0
// The time that a balancer's look at its rank takes.
#pragma once

namespace nacre::calibration {

struct look_costs {
  double look_ns = 0;  ///< of a look at a rank without objects
  double step_ns = 0;  ///< for each object that a look considers
};

/// Runs a job of two ranks in this process. Its balancer times its own looks and moves nothing; both times are
/// low deciles. Throws std::runtime_error when the job fails.
[[nodiscard]] look_costs measure_looks();

}  // namespace nacre::calibration
