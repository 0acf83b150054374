// SPDX-License-Identifier: Apache-2.0
// Components of a surface, their Euler numbers, and edges at which it is no manifold.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry/point.hpp"
#include "surface/surface_mesh.hpp"

namespace mesh3d {

struct surface_counts {
  /// Points - edges + triangles of each component, sorted: 2 for a ball's surface, 0 for a torus, 2 less for each
  /// further handle. Triangles with a common point are of one component.
  std::vector<std::int64_t> euler_numbers{};
  std::uint64_t edges_not_of_two = 0;  // edges with one triangle, or with more than two
  point place{};                       // the middle of one of these
};

surface_counts count_surface(const surface_mesh& mesh);

/// Returns the first 8 numbers as text, and how many more there are: a surface may have a hundred thousand components.
std::string list_of(const std::vector<std::int64_t>& numbers);

/// Triangles over shared points: corners with the same coordinates, bit for bit, are one. The order of triangles does
/// not matter.
surface_mesh share_points(std::vector<std::array<point, 3>> triangles);

}  // namespace mesh3d
