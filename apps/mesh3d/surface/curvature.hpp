// SPDX-License-Identifier: Apache-2.0
// How much a surface of triangles curves.
#pragma once

#include <vector>

#include "surface/surface_mesh.hpp"
#include "surface/topology.hpp"

namespace mesh3d {

/// By point: the root of the sum of the squares of both principal curvatures, from the angles of edges (Cohen-Steiner
/// and Morvan 2003), so 1 / r on a cylinder of radius r and sqrt(2) / r on a sphere. Edges with an angle of more than
/// 45 degrees are taken for creases, which do not count.
std::vector<double> curvatures(const surface_mesh& mesh, const std::vector<surface_edge>& edges);

}  // namespace mesh3d
