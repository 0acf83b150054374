// SPDX-License-Identifier: Apache-2.0
// Divides a triangulation into parts of about equal weight and with short borders.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/triangulation.hpp"

namespace mesh2d {

/// Returns a part from 0 to the number of parts - 1 for each triangle; no part is empty. There may be fewer parts than
/// `count`, the number that is asked for. The two sides of a corner below `degrees_min` are never both borders of
/// parts, unless both are constrained: interfaces meet at angles of at least `degrees_min`, or of two triangles.
/// Triangles of less than 15 degrees go with all their neighbours, but not across constrained sides. Without
/// `degrees_min` parts may end anywhere, for a mesh that is not refined. Parts with near numbers are near to each
/// other. The result depends on the arguments only.
std::vector<std::uint32_t> partition(const triangulation& mesh, const std::vector<double>& weights,
                                     std::optional<double> degrees_min, std::uint32_t count);

}  // namespace mesh2d
