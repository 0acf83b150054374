// SPDX-License-Identifier: Apache-2.0
// Points on the input surface (Boissonnat and Oudot 2005), and the side that a tetrahedron is on.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/refiner.hpp"
#include "kernel/shape.hpp"

namespace mesh3d {
namespace {

bool is_finite(const point& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

bool in_box(const point& low, const point& high, const point& p) {
  return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z;
}

/// Cuts off from the line what is outside of the box. Returns false when nothing is left.
bool clip(const point& low, const point& high, point& source, point& target) {
  double enter = 0, leave = 1;
  const point way = target - source, start = source;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double step = coordinate(way, axis), time = coordinate(start, axis);
    if (step == 0) {
      if (time < coordinate(low, axis) || time > coordinate(high, axis)) return false;
      continue;
    }
    const double a = (coordinate(low, axis) - time) / step, b = (coordinate(high, axis) - time) / step;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  if (enter > leave) return false;
  if (leave < 1) target = start + way * leave;
  if (enter > 0) source = start + way * enter;
  return true;
}

sphere sphere_around(const triangulation& mesh, index t) {
  const auto& corner = mesh.tetrahedra[t].corner;
  return circumsphere(mesh.at(corner[0]), mesh.at(corner[1]), mesh.at(corner[2]), mesh.at(corner[3]));
}

}  // namespace

std::optional<point> refiner::on_surface_for(facet f) const {
  const auto [a, b, c] = mesh_.corners(f);
  const facet twin = mesh_.twin(f);
  point source = sphere_around(mesh_, tetrahedron_of(f)).centre;
  point target = twin == none ? circumsphere(mesh_.at(a), mesh_.at(b), mesh_.at(c)).centre
                              : sphere_around(mesh_, tetrahedron_of(twin)).centre;
  if (target < source) std::swap(source, target);  // both sides of the facet find the same one of several crossings
  if (!is_finite(source) || !is_finite(target) || !clip(mesh_.at(0), mesh_.at(7), source, target)) return std::nullopt;
  return rule_.size.surface->first_crossing(source, target);
}

refiner::wish refiner::surface_point_for(facet f, point& position) const {
  const std::optional<point> crossing = on_surface_for(f);
  if (!crossing) return wish::nothing;
  position = *crossing;
  const auto corners = mesh_.corners(f);
  const double radius = rule_.size.at(position) * quality_rule::surface_factor;
  const bool too_large = squared_length(position - mesh_.at(corners[0])) > radius * radius;
  const bool off = std::any_of(corners.begin(), corners.end(), [&](index v) {
    return !rule_.size.surface->nearest(mesh_.at(v), quality_rule::on_surface);
  });
  return too_large || off ? wish::possible : wish::nothing;
}

bool refiner::collect_on_surface(index t, const point& position) {
  const double length = rule_.size.at(position), apart = length * quality_rule::apart_factor;
  const point low = mesh_.at(0), high = mesh_.at(7), to_low = position - low, to_high = high - position;
  const double to_hull = std::min({to_low.x, to_low.y, to_low.z, to_high.x, to_high.y, to_high.z});
  if (to_hull < length * quality_rule::hull_factor) return false;
  hole_.collect(mesh_, position, mesh_.find(position, t));
  return std::all_of(hole_.border().begin(), hole_.border().end(), [&](facet f) {
    const auto corners = mesh_.corners(f);
    return std::all_of(corners.begin(), corners.end(),
                       [&](index v) { return squared_length(mesh_.at(v) - position) >= apart * apart; });
  });
}

const std::vector<index>* refiner::insert_on_surface_for(facet f) {
  const std::optional<point> place = on_surface_for(f);
  if (!place || !collect_on_surface(tetrahedron_of(f), *place)) return nullptr;
  hole_.fill(mesh_, *place);
  return &hole_.filled();
}

bool refiner::is_inside(index t) const {
  const triangle_tree& surface = *rule_.size.surface;
  const point &low = mesh_.at(0), &high = mesh_.at(7), centre = sphere_around(mesh_, t).centre;
  const bool is_known = is_finite(centre);
  if (is_known && in_box(low, high, centre)) return surface.inside(centre);
  for (unsigned k = 0; k < 4 && is_known; ++k) {
    const facet f = facet_of(t, k);
    if (mesh_.twin(f) != none) continue;
    const auto [a, b, c] = mesh_.corners(f);
    const point position = circumsphere(mesh_.at(a), mesh_.at(b), mesh_.at(c)).centre;
    const bool is_beyond = (position.x == low.x && centre.x < low.x) || (position.x == high.x && centre.x > high.x) ||
                           (position.y == low.y && centre.y < low.y) || (position.y == high.y && centre.y > high.y) ||
                           (position.z == low.z && centre.z < low.z) || (position.z == high.z && centre.z > high.z);
    if (is_beyond) return surface.inside(position);
  }
  const auto& corner = mesh_.tetrahedra[t].corner;
  return surface.inside((mesh_.at(corner[0]) + mesh_.at(corner[1]) + mesh_.at(corner[2]) + mesh_.at(corner[3])) * 0.25);
}

}  // namespace mesh3d
