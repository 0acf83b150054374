// SPDX-License-Identifier: Apache-2.0
// The seconds of a charge that are counted.
#pragma once

#include <algorithm>

namespace nacre {

/// Seconds that the simulated network can still add to any of its times. A longer charge would also hide all others in
/// a mean.
inline constexpr double charge_max = 1e6;

[[nodiscard]] inline double bounded_charge(double seconds) noexcept {
  return std::min(std::max(0.0, seconds), charge_max);  // in this order NaN counts as 0
}

}  // namespace nacre
