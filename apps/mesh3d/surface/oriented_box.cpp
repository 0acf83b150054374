// SPDX-License-Identifier: Apache-2.0
// Chooses the axes of boxes.
#include "surface/oriented_box.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace mesh3d {
namespace {

/// Axes that are no numbers, as those of triangles without area, are replaced by those of the coordinates.
std::array<point, 3> axes_of(const surface_mesh& mesh, std::span<const std::uint32_t> triangles) {
  point longest{}, normal{};
  double longest_square = 0, normal_square = 0;
  for (const std::uint32_t t : triangles) {
    const auto [a, b, c] = mesh.corners(t);
    for (const point& edge : {b - a, c - b, a - c}) {
      if (const double square = squared_length(edge); square > longest_square) {
        longest = edge;
        longest_square = square;
      }
    }
    const point position = cross(b - a, c - a);
    if (const double square = squared_length(position); square > normal_square) {
      normal = position;
      normal_square = square;
    }
  }
  const point along = longest * (1 / std::sqrt(longest_square));
  point upwards = normal;
  for (int round = 0; round < 2; ++round) {  // what the first round leaves of `along` by rounding, the second removes
    upwards = upwards - along * dot(upwards, along);
    upwards = upwards * (1 / std::sqrt(squared_length(upwards)));
  }
  const point aside = cross(upwards, along);
  const double size = squared_length(along) + squared_length(upwards) + squared_length(aside);
  if (!(std::abs(size - 3) < 1e-13) || !(std::abs(dot(along, upwards)) < 1e-13)) return oriented_box{}.axes;
  return {along, aside, upwards};
}

}  // namespace

oriented_box box_around(const surface_mesh& mesh, std::span<const std::uint32_t> triangles) {
  constexpr double far = std::numeric_limits<double>::infinity();
  oriented_box result{axes_of(mesh, triangles), {far, far, far}, {-far, -far, -far}};
  double largest = 0;
  for (const std::uint32_t t : triangles) {
    for (const point& corner : mesh.corners(t)) {
      const point position = result.coordinates(corner);
      result.low = {std::min(result.low.x, position.x), std::min(result.low.y, position.y),
                    std::min(result.low.z, position.z)};
      result.high = {std::max(result.high.x, position.x), std::max(result.high.y, position.y),
                     std::max(result.high.z, position.z)};
      largest = std::max({largest, std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)});
    }
  }
  const double room = 1e-14 * largest;
  result.low = result.low - point{room, room, room};
  result.high = result.high + point{room, room, room};
  return result;
}

}  // namespace mesh3d
