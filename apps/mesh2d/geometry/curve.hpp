// SPDX-License-Identifier: Apache-2.0
// The order of points along a space-filling curve: neighbours in the order are neighbours in the plane.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/point.hpp"

namespace mesh2d {

struct box {
  point low, high;
};

/// The least box around points, of which there is at least one.
box bounds_of(const std::vector<point>& points);

/// Where a point of a box comes on Hilbert's curve through a grid of 2^16 by 2^16 cells.
std::uint32_t place_on_curve(const box& all, const point& point);

}  // namespace mesh2d
