// SPDX-License-Identifier: Apache-2.0
// The points on edges and faces of a subdomain. Each depends only on its edge or face and on the size field, so the
// subdomains around it compute the same ones.
#pragma once

#include <vector>

#include "plan/octree.hpp"
#include "plan/size_field.hpp"

namespace mesh3d {

/// An edge and a face are cut into three steps at least, also where the field allows longer ones: so a sphere around a
/// triangle of a face reaches no face but those beside it.
inline constexpr double steps_min = 3;

/// The points within an edge, by increasing coordinate, which divide the integral of 1 / length into equal parts.
std::vector<point> points_within(const cube_edge& edge, const size_field& size);

/// The points within a face: a maximal sample of points that keep a distance from each other and from the points on
/// `edges`, as far as those lie on the face's sides. No point lies in a circle over a step of an edge.
std::vector<point> points_within(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size);

/// All points on the surface of a leaf, without its corners.
std::vector<point> hull_points(const leaf_plan& leaf, const size_field& size);

}  // namespace mesh3d
