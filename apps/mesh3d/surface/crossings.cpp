// SPDX-License-Identifier: Apache-2.0
// Tests pairs of triangles whose boxes meet.
#include "surface/crossings.hpp"

#include <algorithm>

#include "geometry/predicates.hpp"

namespace mesh3d {
namespace {

constexpr std::uint64_t pairs_a_triangle = 64, pairs_min = 1'000'000;

bool shares(const surface_mesh::triangle& of, std::uint32_t v) {
  return std::find(of.begin(), of.end(), v) != of.end();
}

/// Whether an edge of `t` that has no corner of `other` meets `other`.
bool edge_meets(const surface_mesh& mesh, std::uint32_t t, std::uint32_t other) {
  const auto &mine = mesh.triangles[t], &theirs = mesh.triangles[other];
  for (unsigned k = 0; k < 3; ++k) {
    const std::uint32_t a = mine[k], b = mine[(k + 1) % 3];
    if (shares(theirs, a) || shares(theirs, b)) continue;
    if (meets(mesh.points[a], mesh.points[b], mesh.corners(other))) return true;
  }
  return false;
}

/// Two triangles at one edge that lie upon each other.
bool is_folded(const surface_mesh& mesh, std::uint32_t t, std::uint32_t other) {
  const auto &mine = mesh.triangles[t], &theirs = mesh.triangles[other];
  std::array<std::uint32_t, 2> edge{}, apex{};
  unsigned shared = 0;
  for (const std::uint32_t v : mine) {
    if (!shares(theirs, v)) {
      apex[0] = v;
    } else if (shared < 2) {
      edge[shared++] = v;
    }
  }
  if (shared != 2) return false;
  for (const std::uint32_t v : theirs) {
    if (!shares(mine, v)) apex[1] = v;
  }
  const point &a = mesh.points[edge[0]], &b = mesh.points[edge[1]], &p = mesh.points[apex[0]],
              &q = mesh.points[apex[1]];
  if (orient(a, b, p, q) != 0) return false;
  return dot(cross(b - a, p - a), cross(b - a, q - a)) > 0;
}

}  // namespace

crossing_search find_crossing(const surface_mesh& mesh, const triangle_tree& tree) {
  crossing_search search;
  const std::uint64_t pairs_max = std::max(pairs_min, pairs_a_triangle * mesh.triangles.size());
  std::uint64_t pairs = 0;
  for (std::uint32_t t = 0; t < mesh.triangles.size() && !search.found && search.complete; ++t) {
    const auto [a, b, c] = mesh.corners(t);
    const point low{std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y}), std::min({a.z, b.z, c.z})};
    const point high{std::max({a.x, b.x, c.x}), std::max({a.y, b.y, c.y}), std::max({a.z, b.z, c.z})};
    tree.for_each_in(low, high, [&](std::uint32_t other) {
      if (other <= t) return true;
      search.complete = ++pairs <= pairs_max;
      if (edge_meets(mesh, t, other) || edge_meets(mesh, other, t) || is_folded(mesh, t, other))
        search.found = {t, other};
      return !search.found && search.complete;
    });
  }
  return search;
}

}  // namespace mesh3d
