// SPDX-License-Identifier: Apache-2.0
// Coasts within a rectangle of longitudes and latitudes.
#pragma once

#include <cstdint>
#include <vector>

#include "coast/planar_map.hpp"

namespace mesh2d {

/// In units of a coast_map; all four are odd, so that no point of a coast lies on the border.
struct grid_rectangle {
  std::int64_t west = 0, east = 0, south = 0, north = 0;
};

/// The stretches of coasts within the rectangle, at most a turn wide, and its border. Along the border there is a
/// vertex at each coast, at the corners, and at least one for each `step` units.
planar_map clip(const coast_map& coasts, const grid_rectangle& grid_rectangle, double km2_min, std::int64_t step);

}  // namespace mesh2d
