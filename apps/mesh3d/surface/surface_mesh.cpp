// SPDX-License-Identifier: Apache-2.0
// Measures of surfaces.
#include "surface/surface_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace mesh3d {

std::pair<point, point> bounds_of(const surface_mesh& mesh) noexcept {
  point low = mesh.points.front(), high = low;
  for (const point& p : mesh.points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return {low, high};
}

double enclosed_volume(const surface_mesh& mesh) noexcept {
  if (mesh.points.empty()) return 0;
  const point origin = mesh.points.front();  // near to the surface, so that little cancels
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    sum += dot(a - origin, cross(b - origin, c - origin));
  }
  return sum / 6;
}

double area_of(const surface_mesh& mesh) noexcept {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    sum += std::sqrt(squared_length(cross(b - a, c - a)));
  }
  return sum / 2;
}

}  // namespace mesh3d
