// SPDX-License-Identifier: Apache-2.0
// Directed edges on a grid of whole numbers: crossings are mended, and faces are told apart, without any rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coast/gshhg.hpp"

namespace mesh2d {

/// A coast has land to its left; the border has the region to its left.
enum class edge_kind : std::uint8_t { coast, border };

struct planar_edge {
  std::uint32_t begin = 0, end = 0;  // positions of vertices
  edge_kind kind = edge_kind::coast;
};

/// Coordinates are below 2^30, so that all products are exact in 64 bits.
struct planar_map {
  std::vector<grid_point> vertices{};
  std::vector<planar_edge> edges{};
};

inline constexpr std::int64_t planar_coordinate_max = std::int64_t{1} << 30;

/// Positive where c is to the left of the line from a to b.
inline std::int64_t turn_of(const grid_point& a, const grid_point& b, const grid_point& c) noexcept {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// Vertices at one place become one; edges without length, and pairs of coasts in opposite directions, are dropped;
/// edges that cross or touch get a vertex there, which is rounded to the grid. Returns how many such vertices. Throws
/// nacre::setup_error where that does not come to an end.
std::size_t make_planar(planar_map& map, const std::string& name);

/// A face of the map within its border.
struct planar_face {
  bool is_land = false;
  bool is_known = false;  // whether a coast touches the face
  double x = 0, y = 0;    // a place inside, in units of the grid
};

/// The faces of a planar map whose border is one closed outline.
std::vector<planar_face> faces_of(const planar_map& map);

}  // namespace mesh2d
