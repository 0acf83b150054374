// SPDX-License-Identifier: Apache-2.0
// Walks, and the first six tetrahedra.
#include "kernel/triangulation.hpp"

#include <array>
#include <utility>

namespace mesh3d {

index triangulation::find(const point& p, index source) const noexcept {
  index t = source;
  facet came_by = none;
  for (;;) {
    facet across = none;
    for (unsigned k = 0; k < 4 && across == none; ++k) {
      const facet f = facet_of(t, k);
      if (f == came_by || twin(f) == none) continue;  // nothing lies beyond the hull
      if (side(f, p) < 0) across = twin(f);
    }
    if (across == none) return t;
    came_by = across;
    t = tetrahedron_of(across);
  }
}

triangulation triangulate_box(const point& low, const point& high) {
  triangulation mesh;
  for (unsigned k = 0; k < 8; ++k) {
    mesh.vertices.push_back(
        {(k & 1) != 0 ? high.x : low.x, (k & 2) != 0 ? high.y : low.y, (k & 4) != 0 ? high.z : low.z});
  }
  // All corners lie on one sphere. A corner is lifted more than all that come before it in the order by x, then y, then
  // z, so the triangulation is that of placing them one after the other.
  constexpr std::array<std::array<index, 4>, 6> placed{
      {{0, 4, 2, 1}, {4, 2, 6, 1}, {4, 6, 1, 5}, {2, 6, 1, 3}, {6, 1, 5, 3}, {6, 5, 3, 7}}};
  for (std::array<index, 4> corner : placed) {
    if (orient(mesh.at(corner[0]), mesh.at(corner[1]), mesh.at(corner[2]), mesh.at(corner[3])) < 0) {
      std::swap(corner[0], corner[1]);
    }
    mesh.tetrahedra.push_back({.corner = corner});
  }
  const auto same = [&](facet f, facet g) {
    const auto p = mesh.corners(f), q = mesh.corners(g);  // they run in opposite directions
    for (unsigned k = 0; k < 3; ++k) {
      if (p[0] == q[k] && p[1] == q[(k + 2) % 3] && p[2] == q[(k + 1) % 3]) return true;
    }
    return false;
  };
  for (facet f = 0; f < 24; ++f) {
    for (facet g = 0; g < 24; ++g) {
      if (same(f, g)) mesh.tetrahedra[tetrahedron_of(f)].twin[f & 3] = g;
    }
  }
  return mesh;
}

}  // namespace mesh3d
