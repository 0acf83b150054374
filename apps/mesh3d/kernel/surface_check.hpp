// SPDX-License-Identifier: Apache-2.0
// Measures how well the tetrahedra on one side of an input surface show it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"
#include "kernel/side_links.hpp"
#include "kernel/triangulation.hpp"
#include "surface/placed_surface.hpp"

namespace mesh3d {

/// Checks that sides are those that the surface gives, but for `turned` tetrahedra, and adds the inner volume
/// to `findings.surface`, and to `boundary` the triangles between both sides (those within the subdomain). The rule
/// has the surface.
void check_sides(triangulation& mesh, const quality_rule& rule, const side_list& inner,
                 const std::vector<index>& turned, findings& findings, std::vector<std::array<point, 3>>& boundary);

/// Adds one triangle of the boundary, and how far it is from the surface.
void measure_boundary(const std::array<point, 3>& corner, const size_field& size, surface_findings& findings);

/// Adds how far the part of the surface that is in the box is from the boundary. `size` has the surface.
void measure_surface(const half_open_box& box, const triangle_tree& boundary, const size_field& size,
                     surface_findings& findings);

/// What only the whole can show: compares the boundary with the surface, and adds a fault for each bound that is
/// exceeded. All triangles of both have been measured.
void judge_surface(const placed_surface& surface, const surface_mesh& boundary, findings& findings);

}  // namespace mesh3d
