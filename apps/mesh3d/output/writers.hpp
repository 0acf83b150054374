// SPDX-License-Identifier: Apache-2.0
// Mesh files and pictures.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "parallel/mesher.hpp"

namespace mesh3d {

/// VTK's XML format for unstructured grids, for ParaView: with the subdomain, the rank and the side (1: inside) of each
/// tetrahedron. Coordinates are those of the surface's file.
void write_vtu(const whole_mesh& mesh, std::ostream& stream);

/// A picture of what the plane at `z` cuts: a colour for each rank, or for each subdomain when there is one rank only.
/// Tetrahedra outside of a surface are paler.
void write_svg(const whole_mesh& mesh, double z, std::ostream& stream);

/// What each subdomain has cost, in the order of their places along a curve through space.
void write_costs(const std::vector<subdomain_cost>& costs, const std::string& name);

/// Throws nacre::setup_error for a name that no format has.
void check_output_name(const std::string& out);
/// Throws std::runtime_error, with the file, when that fails.
void write_mesh(const whole_mesh& mesh, const options& asked);

}  // namespace mesh3d
