// SPDX-License-Identifier: Apache-2.0
// Splits at one distance around corners with small angles.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "geometry/predicates.hpp"
#include "kernel/part.hpp"

namespace mesh2d {
namespace {

/// The constrained sides at a vertex, counterclockwise, by their other ends.
std::vector<index> spokes_of(const triangulation& mesh, index v) {
  std::vector<index> ends;
  mesh.for_fan(v, [&](side s) {
    if (mesh.constrained(previous(s))) ends.push_back(mesh.origin(s));
    if (mesh.twin(next(s)) == none && mesh.constrained(next(s))) ends.push_back(mesh.target(s));
  });
  return ends;
}

bool below_60_degrees(const point& a, const point& b) {
  const double along = dot(a, b);
  return along > 0 && along * along > 0.25 * squared_length(a) * squared_length(b);
}

bool has_small_angle(const triangulation& mesh, index v, const std::vector<index>& ends) {
  if (ends.size() < 2) return false;
  const bool closed = mesh.twin(previous(mesh.opposite(mesh.first_of_fan(v), v))) != none;
  for (std::size_t k = 0; k + (closed ? 0 : 1) < ends.size(); ++k) {
    const point a = mesh.at(ends[k]) - mesh.at(v), b = mesh.at(ends[(k + 1) % ends.size()]) - mesh.at(v);
    if (cross(a, b) > 0 && below_60_degrees(a, b)) return true;
  }
  return false;
}

/// Splits the side from `v` to `end` at the distance; does nothing where the grid of doubles is too coarse for that.
void split_spoke(domain& whole, index v, index end, double distance) {
  triangulation& mesh = whole.mesh;
  side s = mesh.find_side(v, end);
  if (s == none) s = mesh.find_side(end, v);
  const point along = mesh.at(end) - mesh.at(v);
  const double part = distance / std::sqrt(squared_length(along));
  const point position{kept_in_range(mesh.at(v).x + along.x * part), kept_in_range(mesh.at(v).y + along.y * part)};
  for (const side each : {s, mesh.twin(s)}) {
    if (each == none) continue;
    const point &a = mesh.at(mesh.origin(each)), &b = mesh.at(mesh.target(each)), &c = mesh.at(mesh.apex(each));
    if (orient(a, position, c) <= 0 || orient(position, b, c) <= 0) return;
  }
  const std::uint32_t segment = whole.names.find(v, end);
  const index middle = mesh.add_vertex(position);
  mesh.split_side(s, middle);
  mesh.legalise_around(middle);
  mesh.legalise_spokes(middle);
  mesh.vertices[middle].fraction = v;
  if (segment == none) return;
  mesh.vertices[middle].place = vertex::segment_mark | segment;
  whole.names.set(v, middle, segment);
  whole.names.set(middle, end, segment);
}

}  // namespace

void find_wedges(domain& whole) {
  const triangulation& mesh = whole.mesh;
  const double tangent = std::tan(wedge::degrees_max * std::numbers::pi / 180);
  for (index v = 0; v < mesh.vertices.size(); ++v) {
    const std::vector<index> ends = spokes_of(mesh, v);
    // All pairs, not only neighbours: behind the end of a short segment two others face each other.
    for (std::size_t k = 0; k < ends.size(); ++k) {
      for (std::size_t other = 1; other < ends.size(); ++other) {
        const index a = ends[k], b = ends[(k + other) % ends.size()];
        const point to_a = mesh.at(a) - mesh.at(v), to_b = mesh.at(b) - mesh.at(v);
        const double turn = cross(to_a, to_b);
        if (turn <= 0 || dot(to_a, to_b) <= 0 || turn > tangent * dot(to_a, to_b)) break;
        const std::uint32_t of_a = whole.names.find(v, a), of_b = whole.names.find(v, b);
        whole.wedges.push_back({std::min(of_a, of_b), std::max(of_a, of_b), mesh.vertices[v].corner});
      }
    }
  }
  std::sort(whole.wedges.begin(), whole.wedges.end());
}

void shield_small_angles(domain& whole) {
  triangulation& mesh = whole.mesh;
  struct corner {
    index v;
    double distance;
  };
  std::vector<corner> corners;
  for (index v = 0; v < mesh.vertices.size(); ++v) {
    const std::vector<index> ends = spokes_of(mesh, v);
    if (!has_small_angle(mesh, v, ends)) continue;
    double shortest = squared_length(mesh.at(ends.front()) - mesh.at(v));
    for (const index end : ends) shortest = std::min(shortest, squared_length(mesh.at(end) - mesh.at(v)));
    corners.push_back({v, std::sqrt(shortest) / 3});
  }
  for (const corner& each : corners) {
    for (const index end : spokes_of(mesh, each.v)) split_spoke(whole, each.v, end, each.distance);
  }
}

}  // namespace mesh2d
