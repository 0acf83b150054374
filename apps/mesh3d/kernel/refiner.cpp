// SPDX-License-Identifier: Apache-2.0
// Inserts points into tetrahedra that are too large or too thin, and refuses those too near to the hull.
#include "kernel/refiner.hpp"

#include <cmath>
#include <cstddef>

#include "kernel/shape.hpp"

namespace mesh3d {
namespace {

constexpr std::size_t looks_a_point = 40;

bool in_range(double value) { return value >= coordinate_min && value <= coordinate_max; }

bool inside(const point& p, const point& low, const point& high) {
  return p.x > low.x && p.y > low.y && p.z > low.z && p.x < high.x && p.y < high.y && p.z < high.z &&
         in_range(std::abs(p.x)) && in_range(std::abs(p.y)) && in_range(std::abs(p.z));
}

}  // namespace

refiner::refiner(triangulation& mesh, const quality_rule& rule, pass pass)
    : mesh_(mesh), rule_(rule), pass_(rule.sliver_degrees > 0 ? pass : pass::sizes) {}

refiner::wish refiner::point_for(index t, point& position) const {
  const auto& corner = mesh_.tetrahedra[t].corner;
  const point &a = mesh_.at(corner[0]), &b = mesh_.at(corner[1]), &c = mesh_.at(corner[2]), &d = mesh_.at(corner[3]);
  const sphere sphere = circumsphere(a, b, c, d);
  const double length = rule_.size.at((a + b + c + d) * 0.25) * quality_rule::radius_factor;
  const bool too_large = !(sphere.squared_radius <= length * length);  // also where a flat one has no finite sphere
  const bool too_thin = !(sphere.squared_radius <= rule_.ratio_max * rule_.ratio_max * shortest_edge(a, b, c, d));
  if (!too_large && !too_thin) return wish::nothing;
  position = sphere.centre;
  return may_insert(t, position) ? wish::possible : wish::impossible;
}

bool refiner::may_insert(index t, const point& position) const {
  if (!inside(position, mesh_.at(0), mesh_.at(7)) || !mesh_.conflicts(t, position)) return false;
  const triangle_tree* const surface = rule_.size.surface;
  return surface == nullptr || !surface->nearest(position, rule_.size.at(position) * quality_rule::surface_factor);
}

/// Returns false for a point that would come too near to a facet of the hull or to a vertex. No vertex is nearer than
/// the radius, but for rounding.
bool refiner::collect(index t, const point& point) {
  const double radius = squared_length(point - mesh_.at(mesh_.tetrahedra[t].corner[0]));
  hole_.collect(mesh_, point, mesh_.find(point, t));
  for (const facet f : hole_.border()) {
    if (mesh_.twin(f) == none && encroaches(mesh_, f, point)) return false;
    for (const index v : mesh_.corners(f)) {
      if (squared_length(mesh_.at(v) - point) < radius / 4) return false;
    }
  }
  return true;
}

attempt refiner::prepare(index t, index cursor, point& point) {
  const wish wanted = point_for(t, point);
  if (wanted == wish::possible && collect(t, point)) return attempt::inserted;
  bool refused = wanted != wish::nothing;
  for (unsigned k = 0; k < 4 && rule_.size.surface != nullptr; ++k) {
    const facet twin = mesh_.twin(facet_of(t, k));
    if (twin != none && tetrahedron_of(twin) >= cursor) continue;
    const wish on_surface = surface_point_for(facet_of(t, k), point);
    if (on_surface == wish::possible && collect_on_surface(t, point)) return attempt::inserted;
    refused = refused || on_surface != wish::nothing;
  }
  const bool sliver = pass_ == pass::slivers && least_dihedral(corners_of(t)) < rule_.sliver_degrees;
  if (sliver && prepare_for_sliver(t, point)) return attempt::inserted;
  return refused ? attempt::refused : attempt::good;
}

bool refiner::refine(refine_state& state, std::size_t points_max) {
  std::size_t inserted = 0;
  for (std::size_t looked = 0; inserted < points_max && looked < looks_a_point * points_max; ++looked) {
    index t = state.cursor;
    if (!state.again.empty()) {
      t = state.again.back();
      state.again.pop_back();
    } else if (state.cursor < mesh_.tetrahedra.size()) {
      ++state.cursor;
    } else if (state.changed && (rule_.size.surface != nullptr || pass_ == pass::slivers)) {
      state = {};
      continue;
    } else {
      return true;
    }
    point point;
    if (!mesh_.in_use(t) || prepare(t, state.cursor, point) != attempt::inserted) continue;
    const tetrahedron tetrahedron = mesh_.tetrahedra[t];
    hole_.fill(mesh_, point);
    ++inserted;
    state.changed = true;
    for (const index fresh : hole_.filled()) {
      if (fresh < state.cursor) state.again.push_back(fresh);
    }
    // A point on the surface may leave the tetrahedron as it is, beside a new neighbour: it may ask for more.
    if (mesh_.tetrahedra[t].corner == tetrahedron.corner) state.again.push_back(t);
  }
  return false;
}

attempt refiner::judge(index t) {
  point point;
  return prepare(t, none, point);
}

}  // namespace mesh3d
