// SPDX-License-Identifier: Apache-2.0
// Points of space.
#pragma once

#include <compare>

namespace mesh3d {

struct point {
  double x = 0, y = 0, z = 0;
  /// The order of symbolic perturbation, too: by coordinates, so that it is the same in all subdomains.
  auto operator<=>(const point&) const = default;
};

inline point operator-(const point& a, const point& b) noexcept { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline point operator+(const point& a, const point& b) noexcept { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline point operator*(const point& a, double factor) noexcept { return {a.x * factor, a.y * factor, a.z * factor}; }
inline double dot(const point& a, const point& b) noexcept { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline point cross(const point& a, const point& b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double squared_length(const point& a) noexcept { return dot(a, a); }

inline double& coordinate(point& p, unsigned axis) noexcept { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }
inline double coordinate(const point& p, unsigned axis) noexcept { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

/// Coordinates that are not 0 lie between these, so that exact arithmetic has room for all products.
inline constexpr double coordinate_min = 0x1p-40, coordinate_max = 0x1p40;

}  // namespace mesh3d
