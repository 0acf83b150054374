// SPDX-License-Identifier: Apache-2.0
// The Delaunay triangulation of points in a box.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/triangulation.hpp"

namespace mesh3d {

/// Rounds of doubling size, in each of which neighbours in the order are neighbours in space: samples of the points,
/// each along a Hilbert curve (Amenta, Choi, Rote 2003). Depends on nothing but the points.
std::vector<std::uint32_t> insertion_order(const std::vector<point>& points);

/// The points lie in the box from `low` to `high`, whose corners become vertices, too. Points at one place become one
/// vertex. All coordinates are within the bounds of geometry/point.hpp.
triangulation triangulate(const point& low, const point& high, const std::vector<point>& points);

}  // namespace mesh3d
