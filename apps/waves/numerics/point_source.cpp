// SPDX-License-Identifier: Apache-2.0
// Distributes a source on grid points.
#include "point_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "boundary_stencils.hpp"

namespace waves {
namespace {

constexpr six_weights fifth_difference{1, -5, 10, -10, 5, -1};

/// Lagrange's weights at -2 to 2 for a place, and their derivatives.
struct lagrange {
  std::array<double, 5> value{}, slope{};
  explicit lagrange(double time) noexcept {
    for (int k = -2; k <= 2; ++k) {
      double product = 1, sum = 0;
      for (int j = -2; j <= 2; ++j) {
        if (j == k) continue;
        sum = (sum * (time - j) + product) / (k - j);  // the product rule, factor by factor
        product *= (time - j) / (k - j);
      }
      value[static_cast<std::size_t>(k + 2)] = product;
      slope[static_cast<std::size_t>(k + 2)] = sum;
    }
  }
};

constexpr double same_point = 1e-9;  // in units of h: places are products of floating-point numbers

/// Where a source is on an axis.
struct place {
  int first = 0;  // of six points
  six_weights delta{}, slope{};
};

place place_on(double coordinate, double origin, double h, bool is_below_surface) {
  const double time = (coordinate - origin) / h;
  const double nearest = std::round(time);
  const double floor = std::abs(time - nearest) < same_point ? nearest : std::floor(time);
  place result{static_cast<int>(floor) - 2, delta_weights(std::max(time - floor, 0.0)),
               delta_slope_weights(std::max(time - floor, 0.0))};
  if (is_below_surface && result.first < 0) {  // five points from the surface on, by interpolation alone
    result.first = 0;
    const lagrange weights(time - 2);
    result.delta = result.slope = {};
    for (std::size_t k = 0; k < 5; ++k) {
      result.delta[k] = weights.value[k];
      result.slope[k] = -weights.slope[k];
    }
  }
  return result;
}

}  // namespace

six_weights delta_weights(double alpha) noexcept {
  const lagrange weights(alpha);
  const double a = alpha;
  const double s =
      a * a * a * a * (-5.0 / 6 + a * (5.0 / 3 + a * (-7.0 / 24 + a * (-17.0 / 12 + a * (9.0 / 8 - a / 4)))));
  six_weights result{};
  for (std::size_t k = 0; k < 6; ++k) result[k] = (k < 5 ? weights.value[k] : 0) + s * fifth_difference[k];
  return result;
}

six_weights delta_slope_weights(double alpha) noexcept {
  const lagrange weights(alpha);
  const double a = alpha;
  const double s = a * a * a * (5.0 / 6 + a * (-25.0 / 12 + a * (-3.0 / 4 + a * (59.0 / 12 + a * (-4 + a)))));
  six_weights result{};
  for (std::size_t k = 0; k < 6; ++k) result[k] = (k < 5 ? -weights.slope[k] : 0) + s * fifth_difference[k];
  return result;
}

interpolation interpolation_at(double coordinate, double origin, double h, int points) noexcept {
  const double place = (coordinate - origin) / h, nearest = std::clamp(std::round(place), 0.0, points - 1.0);
  if (std::abs(place - nearest) < same_point) return {static_cast<int>(nearest), 1, {1}};
  const int first = std::clamp(static_cast<int>(nearest) - 2, 0, points - 5);
  return {first, 5, lagrange(place - first - 2).value};
}

std::vector<source_point> points_of(const point_source& source, const grid& grid) {
  const place x = place_on(source.place[0], grid.origin[0], grid.h, false);
  const place y = place_on(source.place[1], grid.origin[1], grid.h, false);
  const place z = place_on(source.place[2], grid.origin[2], grid.h, grid.top == top_side::free_surface);
  const double per_volume = 1 / (grid.h * grid.h * grid.h);
  const auto& m = source.moment;
  std::vector<source_point> points;
  for (std::size_t k = 0; k < 6; ++k) {
    for (std::size_t j = 0; j < 6; ++j) {
      for (std::size_t i = 0; i < 6; ++i) {
        source_point point{
            x.first + static_cast<int>(i), y.first + static_cast<int>(j), z.first + static_cast<int>(k), {}};
        const double norm = grid.top == top_side::free_surface ? norm_weight(point.z) : 1;
        const double local_value = x.delta[i] * y.delta[j] * z.delta[k] * per_volume / norm;
        const double per_metre = per_volume / norm / grid.h;
        const std::array<double, 3> slope{x.slope[i] * y.delta[j] * z.delta[k] * per_metre,
                                          x.delta[i] * y.slope[j] * z.delta[k] * per_metre,
                                          x.delta[i] * y.delta[j] * z.slope[k] * per_metre};
        point.force = {source.force[0] * local_value - (m[0] * slope[0] + m[3] * slope[1] + m[4] * slope[2]),
                       source.force[1] * local_value - (m[3] * slope[0] + m[1] * slope[1] + m[5] * slope[2]),
                       source.force[2] * local_value - (m[4] * slope[0] + m[5] * slope[1] + m[2] * slope[2])};
        if (point.force != std::array<double, 3>{}) points.push_back(point);
      }
    }
  }
  return points;
}

}  // namespace waves
