// SPDX-License-Identifier: Apache-2.0
// Direct sums in double precision: the judge of the forces.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accuracy.hpp"
#include "body.hpp"

namespace nbody {

struct direct_force {
  vector3 acceleration{};
  double potential = 0;
};

/// Adds what the bodies do to a place, for G = 1. A body with the number `self` is left out.
void add_direct(std::span<const body> bodies, const vector3& place, std::uint32_t self, const softening& soft,
                direct_force& sum);

/// Errors of accelerations, relative to those of direct sums.
struct force_error {
  double root_mean_square = 0, median = 0, percentile_99 = 0, largest = 0;
};
[[nodiscard]] force_error error_of(std::span<const vector3> vector3s, std::span<const vector3> exact);

}  // namespace nbody
