// SPDX-License-Identifier: Apache-2.0
// Removes the sides that a segment crosses by flips (Sloan 1993), then legalises what the flips have made.
#include "kernel/constrain.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh2d {
namespace {

using vertex_pair = std::pair<index, index>;

/// Whether `v` lies on the ray from `a` through `b`, apart from `a`.
bool on_ray(const triangulation& mesh, index a, index b, index v) {
  return orient(mesh.at(a), mesh.at(b), mesh.at(v)) == 0 && dot(mesh.at(b) - mesh.at(a), mesh.at(v) - mesh.at(a)) > 0;
}

/// The way of a segment from one vertex to the next vertex on its line.
struct passage {
  index end = none;
  std::vector<vertex_pair> crossed{};
  side obstacle = none;  // a constrained side that the segment would cross
};

/// The side that the segment leaves the fan of `source` by, or the vertex at the fan's border that it meets.
passage leave_fan(const triangulation& mesh, index source, index target, side& exit) {
  passage match;
  const point &a = mesh.at(source), &b = mesh.at(target);
  mesh.for_fan(source, [&](side s) {
    for (const index v : {mesh.origin(s), mesh.target(s)}) {
      if (on_ray(mesh, source, target, v)) match.end = v;
    }
    if (orient(a, b, mesh.at(mesh.origin(s))) < 0 && orient(a, b, mesh.at(mesh.target(s))) > 0) exit = s;
  });
  return match;
}

passage follow(const triangulation& mesh, index source, index target) {
  side s = none;
  passage match = leave_fan(mesh, source, target, s);
  while (match.end == none) {
    if (mesh.constrained(s)) {
      match.obstacle = s;
      return match;
    }
    match.crossed.emplace_back(mesh.origin(s), mesh.target(s));
    const side other = mesh.twin(s);
    const index beyond = mesh.apex(other);
    const double turn = orient(mesh.at(source), mesh.at(target), mesh.at(beyond));
    if (turn == 0) match.end = beyond;
    s = turn > 0 ? next(other) : previous(other);
  }
  return match;
}

bool strictly_convex(const triangulation& mesh, side s) {
  const point &a = mesh.at(mesh.origin(s)), &b = mesh.at(mesh.target(s));
  const point &c = mesh.at(mesh.apex(s)), &d = mesh.at(mesh.apex(mesh.twin(s)));
  return orient(d, c, a) > 0 && orient(d, c, b) < 0;
}

bool crosses(const triangulation& mesh, index source, index target, index a, index b) {
  if (a == source || a == target || b == source || b == target) return false;
  const double left = orient(mesh.at(source), mesh.at(target), mesh.at(a));
  const double right = orient(mesh.at(source), mesh.at(target), mesh.at(b));
  return (left > 0 && right < 0) || (left < 0 && right > 0);
}

/// Flips crossed sides until none is left; returns the sides that are new.
std::vector<vertex_pair> clear_way(triangulation& mesh, index source, const passage& way) {
  std::vector<vertex_pair> vertex_pairs;
  std::deque<vertex_pair> crossed(way.crossed.begin(), way.crossed.end());
  while (!crossed.empty()) {
    const auto [a, b] = crossed.front();
    crossed.pop_front();
    const side s = mesh.find_side(a, b);
    if (!strictly_convex(mesh, s)) {
      crossed.emplace_back(a, b);
      continue;
    }
    const index c = mesh.apex(s), d = mesh.apex(mesh.twin(s));
    mesh.flip(s);
    (crosses(mesh, source, way.end, c, d) ? crossed.emplace_back(c, d) : vertex_pairs.emplace_back(c, d));
  }
  return vertex_pairs;
}

}  // namespace

std::optional<std::uint32_t> insert_segment(triangulation& mesh, side_names& names, index source, index target,
                                            std::uint32_t segment, bool& overlaps) {
  while (source != target) {
    const passage way = follow(mesh, source, target);
    if (way.obstacle != none) return names.find(mesh.origin(way.obstacle), mesh.target(way.obstacle));
    std::vector<vertex_pair> vertex_pairs = clear_way(mesh, source, way);
    const side s = mesh.find_side(source, way.end);
    mesh.constrain(s);
    if (!names.set(source, way.end, segment)) overlaps = true;
    mesh.legalise(std::move(vertex_pairs));
    source = way.end;
  }
  return std::nullopt;
}

}  // namespace mesh2d
