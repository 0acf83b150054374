// SPDX-License-Identifier: Apache-2.0
// Measures how well the tetrahedra on one side of an input surface show it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"
#include "kernel/triangulation.hpp"

namespace mesh3d {

/// The sides of all tetrahedra by index: 1 inside, 0 outside or not in use.
using side_list = std::vector<std::uint8_t>;

/// Checks that sides are those that the surface gives, and adds the inner volume and the triangles between both sides
/// (those within the subdomain) to `into.surface`. The rule has the surface.
void check_sides(triangulation& mesh, const quality_rule& rule, const side_list& inner, findings& into);

/// Adds one triangle between the inner and the outer side. Its corners are within half of a length from the surface, or
/// counted and listed.
void measure_boundary(const std::array<point, 3>& corner, const size_field& size, findings& into);

}  // namespace mesh3d
