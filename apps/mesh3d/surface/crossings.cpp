// SPDX-License-Identifier: Apache-2.0
// Tests edges and the triangles near to them. Two triangles that meet beside a common corner have an edge that meets
// the other one, without a common corner, unless they lie in one plane.
#include "surface/crossings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh3d {
namespace {

constexpr std::uint64_t looks_an_edge = 1000, looks_min = 10'000'000;

bool shares(const surface_mesh::triangle& triangle, std::uint32_t v) {
  return std::find(triangle.begin(), triangle.end(), v) != triangle.end();
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

crossing_search find_crossing(const surface_mesh& mesh, const std::vector<surface_edge>& edges,
                              const triangle_tree& tree) {
  crossing_search search;
  const std::uint64_t looks_max = std::max(looks_min, looks_an_edge * edges.size());
  std::uint64_t looks = 0;
  for (const surface_edge& edge : edges) {
    const auto [first, other] = edge.triangles;
    if (first != other && is_folded(mesh, first, other)) search.pair = {first, other};
    const point &source = mesh.points[edge.ends[0]], &target = mesh.points[edge.ends[1]];
    looks += tree.for_each_near(edge.ends, [&, first = first](std::uint32_t t) {
      if (meets(source, target, mesh.corners(t))) search.pair = {first, t};
      return !search.pair;
    });
    search.complete = looks <= looks_max;
    if (search.pair || !search.complete) break;
  }
  return search;
}

}  // namespace mesh3d
