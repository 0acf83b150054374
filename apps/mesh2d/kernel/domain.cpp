// SPDX-License-Identifier: Apache-2.0
// Checks the input, constrains its segments, and removes what is outside.
#include "kernel/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "geometry/predicates.hpp"
#include "kernel/place_input.hpp"

namespace mesh2d {
namespace {

/// The triangle that holds `point`; none when the box does not. Walks from the triangle `source`, and leaves there the
/// one that it has found: places in the order of a file lie near each other.
index locate(const triangulation& mesh, const point& point, index& source) {
  const auto outside_of = [&](index t, std::size_t first = 0) {
    for (std::size_t k = first; k < first + 3; ++k) {
      const side s = side_of(t, static_cast<unsigned>(k % 3));
      if (orient(mesh.at(mesh.origin(s)), mesh.at(mesh.target(s)), point) < 0) return s;
    }
    return none;
  };
  const std::size_t steps = 1000 + 8 * static_cast<std::size_t>(std::sqrt(mesh.triangles.size()));
  index t = source;
  for (std::size_t step = 0; step < steps; ++step) {  // with constraints a walk may go in a circle
    const side s = outside_of(t, step);
    if (s == none) return source = t;
    if (mesh.twin(s) == none) return none;
    t = triangle_of(mesh.twin(s));
  }
  for (t = 0; t < mesh.triangles.size(); ++t) {
    if (outside_of(t) == none) return t;
  }
  return none;
}

/// For many places of one input.
struct search {
  explicit search(const pslg& input) : near(2 * least_distance(input)) {}
  double near;      // to a segment, for a place on it
  index start = 0;  // see locate
};

/// The constrained side that is nearer to a place than `near`, of those around the triangle `t` that holds it.
side near_side(const triangulation& mesh, index t, const point& position, double near) {
  for (unsigned k = 0; k < 3; ++k) {
    const side s = side_of(t, k);
    const point& source = mesh.at(mesh.origin(s));
    const point along = mesh.at(mesh.target(s)) - source;
    if (mesh.constrained(s) && cross(along, position - source) <= near * std::sqrt(squared_length(along))) return s;
  }
  side match = none;  // at a vertex, to which sides of other triangles lead
  for (const index v : mesh.triangles[t].corner) {
    if (squared_length(position - mesh.at(v)) > near * near) continue;
    mesh.for_fan(v, [&](side s) {
      if (mesh.constrained(next(s))) match = next(s);
      if (mesh.constrained(previous(s))) match = previous(s);
    });
  }
  return match;
}

/// As locate, but refuses a place on a segment.
index locate_in_face(const pslg& input, const domain& domain, const point& point, search& search, std::uint32_t line,
                     const std::string& name) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y) || std::abs(point.x) > coordinate_max ||
      std::abs(point.y) > coordinate_max) {
    refuse(input, line, name + " has a coordinate that is too large", "it must be a place in the plane", "correct it");
  }
  const index t = locate(domain.mesh, {kept_in_range(point.x), kept_in_range(point.y)}, search.start);
  const side s = t == none ? none : near_side(domain.mesh, t, point, search.near);
  if (s != none) {
    const std::uint32_t segment = domain.names.find(domain.mesh.origin(s), domain.mesh.target(s));
    refuse(input, line, name + " lies on " + segment_text(input, segment), "it must lie inside of what it means",
           "move it to one side, or remove it if the area beside it is 0");
  }
  return t;
}

/// Calls `mark` for the triangles from `begin` up to constrained sides. `mark` returns false where it has been already.
template <class Mark>
void flood(const triangulation& mesh, index begin, Mark mark) {
  std::vector<index> stack{begin};
  mark(begin);
  while (!stack.empty()) {
    const index t = stack.back();
    stack.pop_back();
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = mesh.twin(s);
      if (other == none || mesh.constrained(s) || !mark(triangle_of(other))) continue;
      stack.push_back(triangle_of(other));
    }
  }
}

std::vector<std::uint8_t> inside(const pslg& input, domain& domain) {
  std::vector<std::uint8_t> keep(domain.mesh.triangles.size(), 1);
  const auto drop = [&](index t) { return std::exchange(keep[t], std::uint8_t{0}) != 0; };
  const index box = domain.mesh.vertices[input.points.size()].triangle;
  flood(domain.mesh, box, drop);
  if (std::find(keep.begin(), keep.end(), 1) == keep.end()) {
    refuse(input, 0, fmt::format("the {} segments enclose no area", input.segments.size()),
           "the domain is what is inside of closed outlines", "close the outline");
  }
  search search(input);
  for (const auto& [position, line, name] : input.holes) {
    const index t = locate_in_face(input, domain, position, search, line, fmt::format("hole {}", name));
    if (t == none || keep[t] == 0) {
      domain.notes.push_back(
          fmt::format("{}hole {} lies outside of the domain, or in another hole", place_of(input, line), name));
      continue;
    }
    flood(domain.mesh, t, drop);
  }
  if (std::find(keep.begin(), keep.end(), 1) == keep.end()) {
    refuse(input, input.holes.front().line, fmt::format("the {} holes leave no area", input.holes.size()),
           "each hole reaches up to the next segments", "add segments around the holes, or remove holes");
  }
  return keep;
}

void mark_regions(const pslg& input, domain& domain, const std::vector<std::uint8_t>& keep) {
  domain.regions.emplace_back();
  search search(input);
  for (const auto& [position, attribute, area_max, line, name] : input.regions) {
    if (area_max && !(*area_max > 0 && std::isfinite(*area_max))) {
      refuse(input, line, fmt::format("region {} has the area bound {}", name, *area_max), "it must be positive",
             "correct it, or write -1 for none");
    }
    const index t = locate_in_face(input, domain, position, search, line, fmt::format("region {}", name));
    if (t == none || keep[t] == 0) {
      domain.notes.push_back(fmt::format("{}region {} lies outside of the domain", place_of(input, line), name));
      continue;
    }
    if (domain.mesh.triangles[t].region != 0) {
      refuse(input, line, fmt::format("region {} lies where another region is", name), "no segments part the two",
             "remove one of them, or part them by segments");
    }
    const auto number = static_cast<std::uint32_t>(domain.regions.size());
    domain.regions.push_back({attribute, area_max.value_or(0)});
    flood(domain.mesh, t, [&](index u) { return std::exchange(domain.mesh.triangles[u].region, number) != number; });
  }
}

/// Notes segments without triangles on either side.
void note_outside(domain& domain, const std::vector<std::uint8_t>& keep) {
  std::size_t outside = 0;
  for (index t = 0; t < domain.mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = domain.mesh.twin(s);
      if (!domain.mesh.constrained(s) || keep[t] != 0 || keep[triangle_of(other)] != 0) continue;
      std::uint8_t& mark = domain.incomplete[domain.names.find(domain.mesh.origin(s), domain.mesh.target(s))];
      outside += mark != 2;
      mark = 2;
    }
  }
  if (outside > 0)
    domain.notes.push_back(fmt::format("{} segments lie outside of the domain, at least in part", outside));
  const auto overlapping = std::count(domain.incomplete.begin(), domain.incomplete.end(), 1);
  if (overlapping > 0) domain.notes.push_back(fmt::format("{} segments cover parts of others", overlapping));
}

/// Removes what is outside, and gives names and fans to what is left.
void carve(domain& domain, const std::vector<std::uint8_t>& keep) {
  triangulation& mesh = domain.mesh;
  for (index v = 0; v < mesh.vertices.size(); ++v) mesh.vertices[v].corner = v;
  const side_names side_names = std::exchange(domain.names, {});
  keep_only(mesh, keep);
  separate_fans(mesh);
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      const index a = mesh.origin(s), b = mesh.target(s);
      domain.twice_area.add_edge(mesh.at(a), mesh.at(b));
      if (!mesh.constrained(s)) continue;
      domain.names.set(a, b, side_names.find(mesh.vertices[a].corner, mesh.vertices[b].corner));
    }
  }
}

}  // namespace

domain make_domain(const pslg& input) {
  domain result;
  place_input(input, result);
  const std::vector<std::uint8_t> keep = inside(input, result);
  note_outside(result, keep);
  mark_regions(input, result, keep);
  carve(result, keep);
  return result;
}

}  // namespace mesh2d
