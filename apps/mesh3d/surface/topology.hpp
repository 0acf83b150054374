// SPDX-License-Identifier: Apache-2.0
// Which triangles of a surface are neighbours, and whether it is closed and orientable.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// An edge with the two triangles beside it.
struct surface_edge {
  std::array<std::uint32_t, 2> ends{};       // points; the first one is less
  std::array<std::uint32_t, 2> triangles{};  // the first one runs from the first end to the second one
};

/// How a message names a triangle and a point: with the line and the coordinates of the file.
struct surface_names {
  std::string file{};
  std::function<point(const point&)> in_file{};
  [[nodiscard]] std::string at(const point& p) const;
  [[nodiscard]] std::string triangle(const surface_mesh& mesh, std::uint32_t t) const;
};

struct surface_topology {
  std::vector<surface_edge> edges{};
  std::vector<std::uint32_t> components{};  // by triangle
  std::uint32_t component_count = 0;
  std::uint64_t turned = 0;  // triangles that faced the other way
};

/// Turns triangles so that those of a component face one way: outwards, other components ignored. Throws
/// nacre::setup_error, which names a place, where an edge has one triangle or more than two, or the surface is not
/// orientable.
surface_topology orient_surface(surface_mesh& mesh, const surface_names& names);

}  // namespace mesh3d
