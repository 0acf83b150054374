// SPDX-License-Identifier: Apache-2.0
// Points of the plane.
#pragma once

namespace mesh2d {

struct point {
  double x = 0, y = 0;
  bool operator==(const point&) const = default;
};

inline point operator-(const point& a, const point& b) noexcept { return {a.x - b.x, a.y - b.y}; }
inline double dot(const point& a, const point& b) noexcept { return a.x * b.x + a.y * b.y; }
inline double cross(const point& a, const point& b) noexcept { return a.x * b.y - a.y * b.x; }
inline double squared_length(const point& a) noexcept { return dot(a, a); }

/// Coordinates that are not 0 lie between these, so that no predicate overflows or underflows.
inline constexpr double coordinate_min = 1e-50, coordinate_max = 1e50;

/// A computed coordinate that is smaller than coordinate_min becomes 0.
inline double kept_in_range(double value) noexcept {
  return value < coordinate_min && value > -coordinate_min ? 0 : value;
}

}  // namespace mesh2d
