// SPDX-License-Identifier: Apache-2.0
// Removes triangles and vertices, and gives each fan of triangles a vertex of its own.
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/domain.hpp"

namespace mesh2d {

void keep_only(triangulation& mesh, const std::vector<std::uint8_t>& keep) {
  std::vector<index> new_triangle(mesh.triangles.size(), none), new_vertex(mesh.vertices.size(), none);
  triangulation kept;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    if (keep[t] == 0) continue;
    new_triangle[t] = static_cast<index>(kept.triangles.size());
    kept.triangles.push_back(mesh.triangles[t]);
  }
  for (index t = 0; t < kept.triangles.size(); ++t) {
    for (index& v : kept.triangles[t].corner) {
      if (new_vertex[v] == none) {
        new_vertex[v] = static_cast<index>(kept.vertices.size());
        kept.vertices.push_back(mesh.vertices[v]);
      }
      v = new_vertex[v];
      kept.vertices[v].triangle = t;
    }
    for (side& s : kept.triangles[t].twin) {
      if (s == none) continue;
      const index other = new_triangle[triangle_of(s)];
      s = other == none ? none : side_of(other, s & 3);
    }
  }
  mesh = std::move(kept);
}

void separate_fans(triangulation& mesh) {
  std::vector<std::uint8_t> seen(4 * mesh.triangles.size()), used(mesh.vertices.size());
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      if (seen[side_of(t, k)] != 0) continue;
      index v = mesh.triangles[t].corner[k];
      const index other_fan = std::exchange(mesh.vertices[v].triangle, t);
      std::vector<side> fan;
      mesh.for_fan(v, [&](side s) { fan.push_back(s); });
      if (used[v] != 0) {
        mesh.vertices.push_back(mesh.vertices[v]);
        mesh.vertices[v].triangle = other_fan;
        used.push_back(0);
        v = static_cast<index>(mesh.vertices.size() - 1);
      }
      used[v] = 1;
      for (const side s : fan) {
        seen[s] = 1;
        mesh.triangles[triangle_of(s)].corner[s & 3] = v;
      }
      mesh.vertices[v].triangle = triangle_of(fan.front());
    }
  }
}

}  // namespace mesh2d
