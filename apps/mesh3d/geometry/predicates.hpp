// SPDX-License-Identifier: Apache-2.0
// Robust predicates: a filter in plain arithmetic answers nearly always, exact arithmetic the rest.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/point.hpp"

namespace mesh3d {

namespace detail {
double orient_exactly(const point& a, const point& b, const point& c, const point& d) noexcept;
double in_sphere_carefully(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept;
double in_sphere_exactly(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept;

inline constexpr double epsilon = 0x1p-53;
/// Bounds of the relative errors of the determinants below (Shewchuk 1997, section 4.3 and 4.4).
inline constexpr double orient_error = (7 + 56 * epsilon) * epsilon;
inline constexpr double in_sphere_error = (16 + 224 * epsilon) * epsilon;
/// The permanent that belongs to in_sphere is at most 72 M^5, where M is the longest difference of coordinates: four
/// products of a square of at most 3 M^2 and six products of at most M^3. The last factor covers the rounding of M^5.
inline constexpr double in_sphere_static_error = 72 * in_sphere_error * (1 + 16 * epsilon);

inline double largest(const point& a) noexcept { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); }
}  // namespace detail

/// Positive when (b - a, c - a, d - a) is a right-handed system, negative when it is left-handed, 0 exactly when the
/// four points are in one plane. The value approximates six times the volume of the tetrahedron. Coordinates are within
/// the bounds of geometry/point.hpp.
inline double orient(const point& a, const point& b, const point& c, const point& d) noexcept {
  const point u = b - a, v = c - a, w = d - a;
  const double xy = v.x * w.y, yx = v.y * w.x, yz = v.y * w.z, zy = v.z * w.y, zx = v.z * w.x, xz = v.x * w.z;
  const double determinant = u.z * (xy - yx) + u.x * (yz - zy) + u.y * (zx - xz);
  const double permanent = std::abs(u.z) * (std::abs(xy) + std::abs(yx)) +
                           std::abs(u.x) * (std::abs(yz) + std::abs(zy)) +
                           std::abs(u.y) * (std::abs(zx) + std::abs(xz));
  const double bound = detail::orient_error * permanent;
  if (determinant >= bound || -determinant >= bound) return determinant;
  return detail::orient_exactly(a, b, c, d);
}

/// For a, b, c, d with a positive orient: positive when e is inside of their sphere, negative when it is outside, 0
/// exactly when it is on the sphere.
inline double in_sphere(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept {
  const point p = a - e, q = b - e, r = c - e, s = d - e;
  const double pq = p.x * q.y - q.x * p.y, qr = q.x * r.y - r.x * q.y, rs = r.x * s.y - s.x * r.y;
  const double sp = s.x * p.y - p.x * s.y, pr = p.x * r.y - r.x * p.y, qs = q.x * s.y - s.x * q.y;
  const double pqr = p.z * qr - q.z * pr + r.z * pq, qrs = q.z * rs - r.z * qs + s.z * qr;
  const double rsp = r.z * sp + s.z * pr + p.z * rs, spq = s.z * pq + p.z * qs + q.z * sp;
  const double determinant =
      (squared_length(p) * qrs - squared_length(q) * rsp) + (squared_length(r) * spq - squared_length(s) * pqr);
  const double most =
      std::max(std::max(detail::largest(p), detail::largest(q)), std::max(detail::largest(r), detail::largest(s)));
  const double square = most * most;
  const double bound = detail::in_sphere_static_error * (square * square * most);
  if (determinant > bound || -determinant > bound) return determinant;
  return detail::in_sphere_carefully(a, b, c, d, e);
}

/// As in_sphere, but never 0 for five different points: the tie is decided as if each point were lifted by an
/// infinitely small amount, a lexicographically greater point by far more than a smaller one (Devillers, Teillaud).
/// So one set of points has one Delaunay triangulation, and a part of a plane that two subdomains share has, too.
double in_perturbed_sphere(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept;

}  // namespace mesh3d
