// SPDX-License-Identifier: Apache-2.0
// Faces of more than three corners, cut into triangles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/point.hpp"

namespace mesh3d {

/// A face that is not convex may have so many corners; its time grows with their third power at worst.
inline constexpr std::size_t concave_corners_max = 500;

/// Cuts a face into triangles of its corners, which are numbers of `points`, three at least. A convex face becomes a
/// fan from its first corner; from others ears are cut, in the plane where the face looks largest. Empty when that
/// cannot be done: the boundary touches or crosses itself, or the face has too many corners and is not convex.
std::vector<std::array<std::uint32_t, 3>> cut_polygon(const std::vector<point>& points,
                                                      const std::vector<std::uint32_t>& corners);

}  // namespace mesh3d
