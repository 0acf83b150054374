// SPDX-License-Identifier: Apache-2.0
// Finds places where a surface meets itself.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "surface/surface_mesh.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

struct crossing_search {
  std::optional<std::pair<std::uint32_t, std::uint32_t>>
      found{};           // two triangles that meet beside their common corners
  bool complete = true;  // false: boxes of too many pairs of triangles meet for all of them to be looked at
};

/// Exact, but for triangles in one plane. Looks at 64 pairs for each triangle at most, on average.
crossing_search find_crossing(const surface_mesh& mesh, const triangle_tree& tree);

}  // namespace mesh3d
