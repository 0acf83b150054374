// SPDX-License-Identifier: Apache-2.0
// Finds places where a surface meets itself.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "surface/surface_mesh.hpp"
#include "surface/topology.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

struct crossing_search {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> pair{};  // two triangles that meet beside their common corners
  bool complete = true;  // false: too many boxes of triangles are near to each other for all of them to be looked at
};

/// Exact, but for triangles in one plane. Looks at 1,000 boxes for each edge at most, on average; where triangles are
/// long and thin, it takes some dozen. At an edge of one triangle, `edges` name that twice.
crossing_search find_crossing(const surface_mesh& mesh, const std::vector<surface_edge>& edges,
                              const triangle_tree& tree);

}  // namespace mesh3d
