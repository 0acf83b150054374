// SPDX-License-Identifier: Apache-2.0
// The Delaunay triangulation of points, inside of a large box.
#pragma once

#include <vector>

#include "kernel/triangulation.hpp"

namespace mesh2d {

/// A Delaunay triangulation of points and the four corners of a box around them, which come after the points.
struct boxed_triangulation {
  triangulation mesh;
  std::vector<index> vertex_of_point;  // points at one place share a vertex
};

/// `points` is not empty, and its coordinates are in the range of geometry/point.hpp.
boxed_triangulation triangulate(const std::vector<point>& points);

/// The triangle that holds `point`, by a walk that begins at the triangle `source`. The mesh is Delaunay, without
/// constraints; `point` lies in its hull. At a side or a vertex it is any of the triangles there.
index find_triangle(const triangulation& mesh, const point& point, index source) noexcept;

}  // namespace mesh2d
