// SPDX-License-Identifier: Apache-2.0
// Sums the curvature tensor over the edges at each point.
#include "surface/curvature.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mesh3d {
namespace {

constexpr double crease = 0.7853981633974483;  // radians

/// A symmetric matrix: xx, yy, zz, xy, yz, zx.
using tensor = std::array<double, 6>;

double norm(const tensor& m) {
  return std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + 2 * (m[3] * m[3] + m[4] * m[4] + m[5] * m[5]));
}

}  // namespace

std::vector<double> curvatures(const surface_mesh& mesh, const std::vector<surface_edge>& edges) {
  std::vector<tensor> sums(mesh.points.size());
  std::vector<double> areas(mesh.points.size());
  std::vector<point> normals;  // with the length of twice the area
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    normals.push_back(cross(b - a, c - a));
    for (const std::uint32_t v : mesh.triangles[t]) areas[v] += std::sqrt(squared_length(normals.back())) / 6;
  }
  for (const surface_edge& edge : edges) {
    const point along = mesh.points[edge.ends[1]] - mesh.points[edge.ends[0]];
    const double length = std::sqrt(squared_length(along));
    const point &m = normals[edge.triangles[0]], &n = normals[edge.triangles[1]];
    const double angle = std::atan2(dot(cross(m, n), along), dot(m, n) * length);  // 0 where a triangle is flat
    if (!(length > 0) || std::abs(angle) > crease) continue;
    const double weight = angle / length / 2;  // half of the edge belongs to each end
    const tensor part{along.x * along.x * weight, along.y * along.y * weight, along.z * along.z * weight,
                      along.x * along.y * weight, along.y * along.z * weight, along.z * along.x * weight};
    for (const std::uint32_t v : edge.ends) {
      for (unsigned k = 0; k < 6; ++k) sums[v][k] += part[k];
    }
  }
  std::vector<double> values;
  for (std::size_t v = 0; v < sums.size(); ++v) values.push_back(areas[v] > 0 ? norm(sums[v]) / areas[v] : 0);
  return values;
}

}  // namespace mesh3d
