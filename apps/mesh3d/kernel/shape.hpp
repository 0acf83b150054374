// SPDX-License-Identifier: Apache-2.0
// Spheres and angles of triangles and tetrahedra, in plain arithmetic.
#pragma once

#include <array>
#include <cmath>

#include "geometry/point.hpp"

namespace mesh3d {

struct sphere {
  point centre{};
  double squared_radius = 0;
};

/// The smallest sphere through the corners of a triangle.
inline sphere circumsphere(const point& a, const point& b, const point& c) noexcept {
  const point u = b - a, v = c - a, normal = cross(u, v);
  const point position =
      cross(v * -squared_length(u) + u * squared_length(v), normal) * (-0.5 / squared_length(normal));
  return {a + position, squared_length(position)};
}

/// The sphere through the corners of a tetrahedron. Not finite where that is flat.
inline sphere circumsphere(const point& a, const point& b, const point& c, const point& d) noexcept {
  const point u = b - a, v = c - a, w = d - a, vw = cross(v, w), wu = cross(w, u), uv = cross(u, v);
  const point position =
      (vw * squared_length(u) + wu * squared_length(v) + uv * squared_length(w)) * (0.5 / dot(u, vw));
  return {a + position, squared_length(position)};
}

/// The squared length of the shortest of six edges.
inline double shortest_edge(const point& a, const point& b, const point& c, const point& d) noexcept {
  return std::fmin(std::fmin(std::fmin(squared_length(b - a), squared_length(c - a)), squared_length(d - a)),
                   std::fmin(std::fmin(squared_length(c - b), squared_length(d - b)), squared_length(d - c)));
}

/// The six dihedral angles of a tetrahedron, in degrees.
inline std::array<double, 6> dihedral_angles(const std::array<point, 4>& corner) noexcept {
  constexpr std::array<std::array<unsigned, 4>, 6> edges{
      {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}}};
  std::array<double, 6> degrees{};
  for (unsigned k = 0; k < 6; ++k) {
    const auto& [a, b, c, d] = edges[k];
    const point along = corner[b] - corner[a];
    const point m = cross(along, corner[c] - corner[a]), n = cross(along, corner[d] - corner[a]);
    degrees[k] = std::atan2(std::sqrt(squared_length(cross(m, n))), dot(m, n)) * 57.29577951308232;
  }
  return degrees;
}

}  // namespace mesh3d
