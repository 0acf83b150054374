// SPDX-License-Identifier: Apache-2.0
// By which power of n a cost grows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sweep {

struct point {
  std::uint64_t n;
  double seconds;
};

/// The exponent of n by least squares over logarithms, of the points that take at least `least_seconds`, of which the
/// last three; what is shorter is the job's own cost and noise. Nothing where fewer than two are left.
[[nodiscard]] std::optional<double> exponent_of(const std::vector<point>& points, double least_seconds);

}  // namespace sweep
