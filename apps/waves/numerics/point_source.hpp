// SPDX-License-Identifier: Apache-2.0
// Forces and moments at a place between grid points (Petersson and Sjogreen, Commun. Comput. Phys. 8 (2010) 1074).
#pragma once

#include <array>
#include <vector>

#include "grid.hpp"
#include "model.hpp"
#include "time_function.hpp"

namespace waves {

/// A force f g(t) in N, or a moment tensor M g(t) in N m; z downwards.
struct point_source {
  position place{};
  std::array<double, 3> force{};
  std::array<double, 6> moment{};  ///< xx, yy, zz, xy, xz, yz
  time_function time;
};

/// The force of a source at a grid point, in N/m^3 for g = 1.
struct source_point {
  int x = 0, y = 0, z = 0;
  std::array<double, 3> force{};
};

/// Weights of points -2 to 3 for a source at `alpha` in [0, 1). Moments 0 to 4 are exact.
using six_weights = std::array<double, 6>;
[[nodiscard]] six_weights delta_weights(double alpha) noexcept;
/// Weights of the derivative of delta.
[[nodiscard]] six_weights delta_slope_weights(double alpha) noexcept;

/// Points from `first` on, whose values times weights, added in their order, are that at a place between them.
struct interpolation {
  int first = 0;
  int count = 1;  ///< 1 at a point, else 5
  std::array<double, 5> weights{1};
};
/// Of a place on an axis with `points` points, at least 5. Polynomials of degree 4 are exact.
[[nodiscard]] interpolation interpolation_at(double coordinate, double origin, double h, int points) noexcept;

/// The grid points of a source, by x, then y, then z.
[[nodiscard]] std::vector<source_point> points_of(const point_source& source, const grid& grid);

}  // namespace waves
