// SPDX-License-Identifier: Apache-2.0
// The virtual time that patches charge in a simulation.
#pragma once

#include "numerics/subdomain.hpp"

namespace waves {

/// Seconds of a core that computes in double precision with vectors of 512 bits, from memory: half a step of a point
/// with one material around, and of any other; and a byte of a halo that is copied.
inline constexpr double uniform_point_seconds = 11e-9, varied_point_seconds = 20e-9, copied_byte_seconds = 0.1e-9;

[[nodiscard]] inline double half_step_seconds(const subdomain& subdomain) noexcept {
  const patch_box& box = subdomain.box();
  const auto rows = static_cast<double>(box.ny * box.nz), uniform = static_cast<double>(subdomain.uniform_rows());
  return box.nx * (uniform * uniform_point_seconds + (rows - uniform) * varied_point_seconds);
}

}  // namespace waves
