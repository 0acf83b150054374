// SPDX-License-Identifier: Apache-2.0
// Where an input surface meets the edges and faces of the octree. All subdomains around one compute the same places.
#pragma once

#include <array>
#include <vector>

#include "plan/octree.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

/// Parts of the way along the edge, from 0 to 1, by increasing value.
std::vector<double> crossings_of(const cube_edge& edge, const triangle_tree& surface);

/// The curve in which the surface meets the face's plane, as pieces that reach beyond the face at its sides.
std::vector<std::array<point, 2>> curve_on(const cube_face& face, const triangle_tree& surface);

}  // namespace mesh3d
