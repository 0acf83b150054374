// SPDX-License-Identifier: Apache-2.0
// Distances and volumes.
#include "kernel/surface_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace mesh3d {

void surface_findings::merge(const surface_findings& other) {
  inner_tetrahedra += other.inner_tetrahedra;
  inner_volume += other.inner_volume;
  triangles += other.triangles;
  area += other.area;
  volume_tolerance += other.volume_tolerance;
  corners += other.corners;
  corners_off += other.corners_off;
  pinched_edges += other.pinched_edges;
  distance_max = std::max(distance_max, other.distance_max);
  distance_by_length_max = std::max(distance_by_length_max, other.distance_by_length_max);
}

void measure_boundary(const std::array<point, 3>& corner, const size_field& size, findings& into) {
  surface_findings& found = into.surface;
  const auto& [a, b, c] = corner;
  const point middle = (a + b + c) * (1.0 / 3);
  const double length = size.at(middle), area = std::sqrt(squared_length(cross(b - a, c - a))) / 2;
  ++found.triangles;
  found.area += area;
  found.volume_tolerance += area * length * surface_findings::tolerance;
  const double far = surface_findings::distance_bound * length;
  for (const point& each : {a, b, c, middle}) {
    const std::optional<point> nearest = size.surface->nearest(each, far);
    if (!nearest) {
      into.fault(
          fmt::format("the triangle between inside and outside at ({:.9g}, {:.9g}, {:.9g}) is not at the surface",
                      each.x, each.y, each.z));
      return;
    }
    const double distance = std::sqrt(squared_length(each - *nearest));
    found.distance_max = std::max(found.distance_max, distance);
    found.distance_by_length_max = std::max(found.distance_by_length_max, distance / length);
    if (each == middle) continue;
    ++found.corners;
    if (distance > quality_rule::on_surface) ++found.corners_off;
  }
}

namespace {

using edge = std::array<index, 2>;

/// Each edge of the triangles between both sides has an even number of them, two but for places where the sides meet at
/// an edge. Neighbours may have more at the edges in the hull, which are passed over.
void check_edges(const triangulation& mesh, std::vector<edge>& edges, findings& into) {
  const auto in_hull = [&](index v) {
    const point &p = mesh.at(v), &low = mesh.at(0), &high = mesh.at(7);
    return p.x == low.x || p.y == low.y || p.z == low.z || p.x == high.x || p.y == high.y || p.z == high.z;
  };
  std::sort(edges.begin(), edges.end());
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    while (end < edges.size() && edges[end] == edges[begin]) ++end;
    if (in_hull(edges[begin][0]) && in_hull(edges[begin][1])) continue;
    if ((end - begin) % 2 != 0) into.fault("the triangles between inside and outside are not closed");
    if (end - begin > 2) ++into.surface.pinched_edges;
  }
}

}  // namespace

void check_sides(triangulation& mesh, const quality_rule& rule, const side_list& inner, findings& into) {
  if (inner.size() != mesh.tetrahedra.size()) {
    into.fault("some tetrahedra have no side");
    return;
  }
  const refiner judge(mesh, rule);
  std::vector<edge> edges;
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    if (judge.is_inside(t) != (inner[t] != 0)) into.fault(fmt::format("tetrahedron {} is on the other side", t));
    if (inner[t] == 0) continue;
    ++into.surface.inner_tetrahedra;
    const auto& [a, b, c, d] = mesh.tetrahedra[t].corner;
    into.surface.inner_volume +=
        dot(mesh.at(b) - mesh.at(a), cross(mesh.at(c) - mesh.at(a), mesh.at(d) - mesh.at(a))) / 6;
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(t, k), twin = mesh.twin(f);
      if (twin == none || inner[tetrahedron_of(twin)] != 0) continue;
      const auto [p, q, r] = mesh.corners(f);
      measure_boundary({mesh.at(p), mesh.at(q), mesh.at(r)}, rule.size, into);
      for (const auto& [v, w] : {edge{p, q}, edge{q, r}, edge{r, p}}) edges.push_back({std::min(v, w), std::max(v, w)});
    }
  }
  check_edges(mesh, edges, into);
}

}  // namespace mesh3d
