// SPDX-License-Identifier: Apache-2.0
// Robust predicates: a filter in plain arithmetic answers nearly always, exact arithmetic the rest.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/point.hpp"

namespace mesh2d {

namespace detail {
double orient_exactly(const point& a, const point& b, const point& c) noexcept;
double in_circle_carefully(const point& a, const point& b, const point& c, const point& d) noexcept;

inline constexpr double epsilon = 0x1p-53;
/// Bounds of the relative errors of the determinants below (Shewchuk 1997, figures 21 and 28).
inline constexpr double orient_error = (3 + 16 * epsilon) * epsilon;
inline constexpr double in_circle_error = (10 + 96 * epsilon) * epsilon;
/// The permanent that belongs to in_circle is at most 12 M^4, where M is the longest difference of coordinates. The
/// last factor covers the rounding of M^4.
inline constexpr double in_circle_static_error = 12 * in_circle_error * (1 + 8 * epsilon);
}  // namespace detail

/// Positive when a, b, c turn left, negative when they turn right, 0 exactly when they are on one line. The value
/// approximates twice the area of the triangle. Coordinates are within the bounds of geometry/point.hpp.
inline double orient(const point& a, const point& b, const point& c) noexcept {
  const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x);
  const double determinant = left - right;
  const double bound = detail::orient_error * (std::abs(left) + std::abs(right));
  if (determinant >= bound || -determinant >= bound) return determinant;
  return detail::orient_exactly(a, b, c);
}

/// For a, b, c that turn left: positive when d is inside of their circle, negative when it is outside, 0 exactly when
/// it is on the circle.
inline double in_circle(const point& a, const point& b, const point& c, const point& d) noexcept {
  const double ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, factor = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
  const double determinant = (ax * ax + ay * ay) * (bx * cy - factor * cx) +
                             (bx * bx + factor * factor) * (cx * ay - cy * ax) +
                             (cx * cx + cy * cy) * (ax * factor - ay * bx);
  const double most = std::max(std::max(std::max(std::abs(ax), std::abs(ay)), std::max(std::abs(bx), std::abs(factor))),
                               std::max(std::abs(cx), std::abs(cy)));
  const double square = most * most;
  const double bound = detail::in_circle_static_error * (square * square);
  if (determinant > bound || -determinant > bound) return determinant;
  return detail::in_circle_carefully(a, b, c, d);
}

}  // namespace mesh2d
