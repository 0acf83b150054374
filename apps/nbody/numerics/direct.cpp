// SPDX-License-Identifier: Apache-2.0
// One loop over all bodies for each place.
#include "direct.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nbody {
namespace {

struct pair_kernel {
  double force, potential;
};

/// Springel, MNRAS 364 (2005) 1105, section 2.1, with h = 2.8 s.
pair_kernel spline_kernel(double r, double h) {
  const double u = r / h, v = u * u;
  if (u >= 1) return {1 / (r * r * r), 1 / r};
  if (u < 0.5)
    return {(32.0 / 3 + v * (32 * u - 38.4)) / (h * h * h), (2.8 - v * (16.0 / 3 + v * (6.4 * u - 9.6))) / h};
  return {(64.0 / 3 - 48 * u + 38.4 * v - 32.0 / 3 * u * v - 1 / (15 * u * v)) / (h * h * h),
          (3.2 - 1 / (15 * u) - v * (32.0 / 3 + u * (-16 + u * (9.6 - 32.0 / 15 * u)))) / h};
}

}  // namespace

void add_direct(std::span<const body> bodies, const vector3& place, std::uint32_t self, const softening& soft,
                direct_force& sum) {
  const bool is_plummer = soft.shape == softening_shape::plummer || soft.length == 0;
  const double squared_length = soft.length * soft.length;
  for (const body& each : bodies) {
    const vector3 v = each.place - place;
    const double squared = dot(v, v);
    if (each.number == self) continue;
    pair_kernel kernel;
    if (is_plummer) {
      const double inverse = 1 / std::sqrt(squared + squared_length);
      kernel = {inverse * inverse * inverse, inverse};
    } else {
      kernel = spline_kernel(std::sqrt(squared), 2.8 * soft.length);
    }
    sum.acceleration = sum.acceleration + (each.mass * kernel.force) * v;
    sum.potential -= each.mass * kernel.potential;
  }
}

force_error error_of(std::span<const vector3> vector3s, std::span<const vector3> exact) {
  std::vector<double> errors;
  double squares = 0;
  for (std::size_t k = 0; k < vector3s.size(); ++k) {
    const double size = length(exact[k]), difference = length(vector3s[k] - exact[k]);
    errors.push_back(size > 0 ? difference / size : difference);
    squares += errors.back() * errors.back();
  }
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const auto quantile = [&](double part) {
    return errors[std::min(errors.size() - 1, static_cast<std::size_t>(part * static_cast<double>(errors.size())))];
  };
  return {std::sqrt(squares / static_cast<double>(errors.size())), quantile(0.5), quantile(0.99), errors.back()};
}

}  // namespace nbody
