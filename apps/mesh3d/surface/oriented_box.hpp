// SPDX-License-Identifier: Apache-2.0
// Boxes that are turned as the triangles in them are, so that those around long thin triangles are thin.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "geometry/point.hpp"
#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// Coordinates are those along three axes that are at right angles, but for rounding; the box has room for that.
struct oriented_box {
  std::array<point, 3> axes{point{1, 0, 0}, point{0, 1, 0}, point{0, 0, 1}};
  point low{}, high{};

  [[nodiscard]] point coordinates(const point& p) const noexcept {
    return {dot(axes[0], p), dot(axes[1], p), dot(axes[2], p)};
  }
  /// Of a point from the box; 0 inside. No more than the distance from any point of the triangles in it.
  [[nodiscard]] double squared_distance(const point& p) const noexcept {
    const point position = coordinates(p);
    const point off{std::max({low.x - position.x, position.x - high.x, 0.0}),
                    std::max({low.y - position.y, position.y - high.y, 0.0}),
                    std::max({low.z - position.z, position.z - high.z, 0.0})};
    return squared_length(off) * (1 - 1e-12);  // the axes are rounded
  }
};

/// The box around some triangles, along the longest of their edges and the normal of the largest one.
oriented_box box_around(const surface_mesh& mesh, std::span<const std::uint32_t> triangles);

/// Whether the part of the line from `position` along `way` that lies between `enter` and `leave`, as multiples of
/// `way`, meets the box from `low` to `high`.
inline bool line_meets(const point& position, const point& way, double enter, double leave, const point& low,
                       const point& high) noexcept {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double start = coordinate(position, axis), step = coordinate(way, axis);
    double first = coordinate(low, axis) - start, last = coordinate(high, axis) - start;
    if (step == 0) {
      if (first > 0 || last < 0) return false;
      continue;
    }
    first /= step;
    last /= step;
    enter = std::max(enter, std::min(first, last));
    leave = std::min(leave, std::max(first, last));
  }
  return enter <= leave + 1e-12;  // the divisions are rounded
}

}  // namespace mesh3d
