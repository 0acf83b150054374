// SPDX-License-Identifier: Apache-2.0
// The cavity of a point. Exact predicates make it star-shaped, but for rare places beside constrained sides.
#include "kernel/cavity.hpp"

#include <cstddef>
#include <cstdint>

#include "geometry/predicates.hpp"

namespace mesh2d {
namespace {
constexpr std::uint32_t in_cavity = 8;
}

inline void cavity::grow(triangulation& mesh, const point& place, side s) {
  const triangle& inner = mesh.triangles[triangle_of(s)];
  const unsigned position = s & 3;
  const side other = inner.twin[position];
  const std::uint32_t constrained = (inner.flags >> position) & 1;
  if (other != none && constrained == 0) {
    triangle& outer = mesh.triangles[triangle_of(other)];
    if ((outer.flags & in_cavity) != 0) {
      is_tree_ = false;
      return;
    }
    const point &a = mesh.at(outer.corner[0]), &b = mesh.at(outer.corner[1]), &c = mesh.at(outer.corner[2]);
    if (in_circle(a, b, c, place) > 0) {
      outer.flags |= in_cavity;
      triangles_.push_back(triangle_of(other));
      stack_.push_back(previous(other));
      stack_.push_back(next(other));
      return;
    }
  }
  const index source = inner.corner[next(s) & 3], target = inner.corner[previous(s) & 3];
  borders_.push_back({source, target, other, constrained, inner.region});
  if (constrained == 0) return;
  touches_constraint_ = true;
  if (dot(mesh.at(source) - place, mesh.at(target) - place) <= 0) encroached_.push_back(s);
}

bool cavity::collect(triangulation& mesh, const point& point, index begin) {
  triangles_.assign(1, begin);
  borders_.clear();
  encroached_.clear();
  touches_constraint_ = false;
  is_tree_ = true;
  mesh.triangles[begin].flags |= in_cavity;
  stack_.assign({side_of(begin, 2), side_of(begin, 1), side_of(begin, 0)});
  while (!stack_.empty() && is_tree_) {
    const side s = stack_.back();
    stack_.pop_back();
    grow(mesh, point, s);
  }
  if (is_tree_ && !encroached_.empty()) return true;  // nobody will fill it
  bool star_shaped = is_tree_;
  for (std::size_t k = 0; touches_constraint_ && star_shaped && k < borders_.size(); ++k) {
    star_shaped = orient(mesh.at(borders_[k].begin), mesh.at(borders_[k].end), point) > 0;
  }
  if (!star_shaped) drop(mesh);
  return star_shaped;
}

void cavity::drop(triangulation& mesh) noexcept {
  for (const index t : triangles_) mesh.triangles[t].flags &= ~in_cavity;
}

index cavity::fill(triangulation& mesh, const point& point) {
  const index v = mesh.add_vertex(point);
  while (triangles_.size() < borders_.size()) {
    triangles_.push_back(static_cast<index>(mesh.triangles.size()));
    mesh.triangles.emplace_back();
  }
  index previous = triangles_.back();
  for (std::size_t k = 0; k < borders_.size(); ++k) {
    const border& edge = borders_[k];
    const index t = triangles_[k], next = triangles_[k + 1 < borders_.size() ? k + 1 : 0];
    // The side opposite to the corner edge.begin runs to the new vertex; its twin runs away from it.
    mesh.triangles[t] = {.corner = {v, edge.begin, edge.end},
                         .twin = {edge.beyond, side_of(next, 2), side_of(previous, 1)},
                         .flags = edge.constrained,
                         .region = edge.region};
    if (edge.beyond != none) mesh.triangles[triangle_of(edge.beyond)].twin[edge.beyond & 3] = side_of(t, 0);
    mesh.vertices[edge.begin].triangle = t;
    previous = t;
  }
  mesh.vertices[v].triangle = previous;
  return v;
}

}  // namespace mesh2d
