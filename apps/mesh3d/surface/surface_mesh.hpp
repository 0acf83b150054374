// SPDX-License-Identifier: Apache-2.0
// A surface of triangles, as files and built-in shapes give it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "geometry/point.hpp"

namespace mesh3d {

/// Triangles over shared points. Coordinates are in the units of the file.
struct surface_mesh {
  using triangle = std::array<std::uint32_t, 3>;  // points, counterclockwise as seen from outside
  std::vector<point> points{};
  std::vector<triangle> triangles{};
  std::vector<std::uint32_t> lines{};  // of triangles in their file, for messages; empty for built-in shapes
  std::uint64_t joined = 0;            // points that a reader has made one with another, for a note

  [[nodiscard]] std::array<point, 3> corners(std::size_t t) const noexcept {
    const auto& [a, b, c] = triangles[t];
    return {points[a], points[b], points[c]};
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points, triangles, lines, joined);
  }
};

/// The smallest box around all points: its low and its high corner. There is at least one point.
std::pair<point, point> bounds_of(const surface_mesh& mesh) noexcept;

/// The volume that a closed surface encloses, negative when its triangles face inwards.
double enclosed_volume(const surface_mesh& mesh) noexcept;
double area_of(const surface_mesh& mesh) noexcept;

}  // namespace mesh3d
