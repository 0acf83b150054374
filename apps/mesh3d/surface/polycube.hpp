// SPDX-License-Identifier: Apache-2.0
// Bodies of cubes for tests: their volumes and Euler numbers are known by counting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// The surface of a plate of cubes of side 1, one layer thick, one for each '#' of the picture, whose rows run along x.
/// A hole in the plate is a handle of its surface. Each face of a cube is two triangles.
inline surface_mesh polycube(const std::vector<std::string>& picture) {
  const auto is_full = [&](int x, int y, int z) {
    return z == 0 && y >= 0 && x >= 0 && y < static_cast<int>(picture.size()) &&
           x < static_cast<int>(picture[static_cast<std::size_t>(y)].size()) &&
           picture[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] == '#';
  };
  surface_mesh mesh;
  std::map<std::array<int, 3>, std::uint32_t> numbers;
  const auto number = [&](const std::array<int, 3>& corner) {
    const auto [known, is_fresh] = numbers.try_emplace(corner, static_cast<std::uint32_t>(mesh.points.size()));
    if (is_fresh) mesh.points.push_back({1.0 * corner[0], 1.0 * corner[1], 1.0 * corner[2]});
    return known->second;
  };
  const auto add_face = [&](std::array<int, 3> low, unsigned axis, int side) {
    const unsigned u = (axis + (side > 0 ? 1U : 2U)) % 3, v = (axis + (side > 0 ? 2U : 1U)) % 3;
    low[axis] += side > 0 ? 1 : 0;
    std::array<std::array<int, 3>, 4> corners{low, low, low, low};
    ++corners[1][u];
    ++corners[2][u];
    ++corners[2][v];
    ++corners[3][v];
    mesh.triangles.push_back({number(corners[0]), number(corners[1]), number(corners[2])});
    mesh.triangles.push_back({number(corners[0]), number(corners[2]), number(corners[3])});
  };
  for (int y = 0; y < static_cast<int>(picture.size()); ++y) {
    for (int x = 0; x < static_cast<int>(picture[static_cast<std::size_t>(y)].size()); ++x) {
      for (unsigned axis = 0; is_full(x, y, 0) && axis < 3; ++axis) {
        for (const int side : {-1, 1}) {
          std::array<int, 3> values{x, y, 0};
          values[axis] += side;
          if (!is_full(values[0], values[1], values[2])) add_face({x, y, 0}, axis, side);
        }
      }
    }
  }
  return mesh;
}

}  // namespace mesh3d
