// SPDX-License-Identifier: Apache-2.0
// Cuts triangles by edges and planes.
#include "plan/crossings_of_hull.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh3d {

std::vector<double> crossings_of(const cube_edge& edge, const triangle_tree& surface) {
  place end = edge.low;
  end[edge.axis] += edge.size;
  const point source = to_point(edge.low), target = to_point(end);
  std::vector<double> values;
  surface.for_each_in(source, target, [&](std::uint32_t t) {
    const std::array<point, 3> corner = surface.corners(t);
    if (!meets(source, target, corner)) return true;
    const auto& [a, b, c] = corner;
    const double start = orient(a, b, c, source), stop = orient(a, b, c, target);
    values.push_back(start / (start - stop));
    return true;
  });
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<std::array<point, 2>> curve_on(const cube_face& face, const triangle_tree& surface) {
  const point low = to_point(face.low);
  const double time = coordinate(low, face.axis), extent = to_length(face.size);
  point high = low + point{extent, extent, extent};
  coordinate(high, face.axis) = time;
  std::vector<std::array<point, 2>> points;
  surface.for_each_in(low, high, [&](std::uint32_t t) {
    const std::array<point, 3> corner = surface.corners(t);
    std::array<point, 2> piece{};
    unsigned count = 0;
    for (unsigned k = 0; k < 3; ++k) {
      // Triangles at one edge compute the same point on it.
      const point a = std::min(corner[k], corner[(k + 1) % 3]), b = std::max(corner[k], corner[(k + 1) % 3]);
      const double start = coordinate(a, face.axis) - time, stop = coordinate(b, face.axis) - time;
      if ((start < 0) == (stop < 0) || count == 2) continue;
      piece[count] = a + (b - a) * (start / (start - stop));
      coordinate(piece[count++], face.axis) = time;
    }
    if (count == 2) points.push_back(piece);
    return true;
  });
  return points;
}

}  // namespace mesh3d
