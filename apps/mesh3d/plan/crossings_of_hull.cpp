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
  const point from = to_point(edge.low), to = to_point(end);
  std::vector<double> made;
  surface.for_each_in(from, to, [&](std::uint32_t t) {
    const std::array<point, 3> corner = surface.corners(t);
    if (!meets(from, to, corner)) return true;
    const auto& [a, b, c] = corner;
    const double start = orient(a, b, c, from), stop = orient(a, b, c, to);
    made.push_back(start / (start - stop));
    return true;
  });
  std::sort(made.begin(), made.end());
  return made;
}

std::vector<std::array<point, 2>> curve_on(const cube_face& face, const triangle_tree& surface) {
  const point low = to_point(face.low);
  const double at = coordinate(low, face.axis), extent = to_length(face.size);
  point high = low + point{extent, extent, extent};
  coordinate(high, face.axis) = at;
  std::vector<std::array<point, 2>> made;
  surface.for_each_in(low, high, [&](std::uint32_t t) {
    const std::array<point, 3> corner = surface.corners(t);
    std::array<point, 2> piece{};
    unsigned count = 0;
    for (unsigned k = 0; k < 3; ++k) {
      // Triangles at one edge compute the same point on it.
      const point a = std::min(corner[k], corner[(k + 1) % 3]), b = std::max(corner[k], corner[(k + 1) % 3]);
      const double start = coordinate(a, face.axis) - at, stop = coordinate(b, face.axis) - at;
      if ((start < 0) == (stop < 0) || count == 2) continue;
      piece[count] = a + (b - a) * (start / (start - stop));
      coordinate(piece[count++], face.axis) = at;
    }
    if (count == 2) made.push_back(piece);
    return true;
  });
  return made;
}

}  // namespace mesh3d
