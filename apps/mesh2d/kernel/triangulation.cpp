// SPDX-License-Identifier: Apache-2.0
// Local changes of a triangulation.
#include "kernel/triangulation.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh2d {

index triangulation::add_vertex(const point& point) {
  vertices.push_back({.position = point});
  return static_cast<index>(vertices.size() - 1);
}

index triangulation::add_triangle(index a, index b, index c, std::uint32_t region) {
  const auto t = static_cast<index>(triangles.size());
  triangles.push_back({.corner = {a, b, c}, .region = region});
  for (const index v : {a, b, c}) vertices[v].triangle = t;
  return t;
}

void triangulation::join(side a, side b) noexcept {
  if (a != none) triangles[triangle_of(a)].twin[a & 3] = b;
  if (b != none) triangles[triangle_of(b)].twin[b & 3] = a;
}

void triangulation::constrain(side s) noexcept {
  triangles[triangle_of(s)].flags |= 1u << (s & 3);
  if (const side other = twin(s); other != none) triangles[triangle_of(other)].flags |= 1u << (other & 3);
}

void triangulation::release(side s) noexcept {
  triangles[triangle_of(s)].flags &= ~(1u << (s & 3));
  if (const side other = twin(s); other != none) triangles[triangle_of(other)].flags &= ~(1u << (other & 3));
}

void triangulation::set(index t, std::array<index, 3> corners, std::array<border, 3> borders) noexcept {
  triangle& changed = triangles[t];
  changed.corner = corners;
  changed.flags = 0;
  for (unsigned k = 0; k < 3; ++k) {
    join(side_of(t, k), borders[k].beyond);
    changed.flags |= (borders[k].is_constrained ? 1u : 0u) << k;
    vertices[corners[k]].triangle = t;
  }
}

void triangulation::split_triangle(index t, index v) {
  const auto [a, b, c] = triangles[t].corner;
  const std::array<border, 3> outer{border_of(side_of(t, 0)), border_of(side_of(t, 1)), border_of(side_of(t, 2))};
  const std::uint32_t region = triangles[t].region;
  const index u = add_triangle(v, c, a, region), w = add_triangle(v, a, b, region);
  constexpr border inner{none, false};
  set(t, {v, b, c}, {outer[0], inner, inner});
  set(u, {v, c, a}, {outer[1], inner, inner});
  set(w, {v, a, b}, {outer[2], inner, inner});
  join(side_of(t, 1), side_of(u, 2));
  join(side_of(u, 1), side_of(w, 2));
  join(side_of(w, 1), side_of(t, 2));
}

void triangulation::split_side(side s, index v) {
  const side other = twin(s);
  const bool fixed = constrained(s);
  const index a = origin(s), b = target(s), c = apex(s), t = triangle_of(s);
  const border of_ca = border_of(previous(s)), of_bc = border_of(next(s));
  constexpr border inner{none, false};
  const border half{none, fixed};
  const index t2 = add_triangle(v, b, c, triangles[t].region);
  if (other == none) {
    set(t, {v, c, a}, {of_ca, half, inner});
    set(t2, {v, b, c}, {of_bc, inner, half});
    join(side_of(t, 2), side_of(t2, 1));
    return;
  }
  const index d = apex(other), u = triangle_of(other);
  const border of_ad = border_of(next(other)), of_db = border_of(previous(other));
  const index u2 = add_triangle(v, d, b, triangles[u].region);
  set(t, {v, c, a}, {of_ca, half, inner});
  set(t2, {v, b, c}, {of_bc, inner, half});
  set(u, {v, a, d}, {of_ad, inner, half});
  set(u2, {v, d, b}, {of_db, half, inner});
  join(side_of(t, 2), side_of(t2, 1));
  join(side_of(u, 1), side_of(u2, 2));
  join(side_of(t, 1), side_of(u, 2));
  join(side_of(t2, 2), side_of(u2, 1));
}

void triangulation::flip(side s) noexcept {
  const side other = twin(s);
  const index a = origin(s), b = target(s), c = apex(s), d = apex(other), t = triangle_of(s), u = triangle_of(other);
  const border of_ca = border_of(previous(s)), of_bc = border_of(next(s));
  const border of_ad = border_of(next(other)), of_db = border_of(previous(other));
  constexpr border inner{none, false};
  set(t, {c, a, d}, {of_ad, inner, of_ca});
  set(u, {c, d, b}, {of_db, of_bc, inner});
  join(side_of(t, 1), side_of(u, 2));
}

void triangulation::legalise_around(index v) {
  std::vector<index> stack;
  for_fan(v, [&](side s) { stack.push_back(triangle_of(s)); });
  while (!stack.empty()) {
    const side s = opposite(stack.back(), v);
    stack.pop_back();
    const side other = twin(s);
    if (other == none || constrained(s)) continue;
    if (in_circle(at(v), at(origin(s)), at(target(s)), at(apex(other))) <= 0) continue;
    flip(s);
    stack.push_back(triangle_of(s));
    stack.push_back(triangle_of(other));
  }
}

std::vector<index> triangulation::legalise_spokes(index v) {
  std::vector<std::pair<index, index>> bad;
  for_fan(v, [&](side s) {
    const side spoke = previous(s), other = twin(spoke);
    if (other == none || constrained(spoke)) return;
    const point &a = at(origin(spoke)), &b = at(target(spoke)), &c = at(apex(spoke));
    if (in_circle(a, b, c, at(apex(other))) > 0) bad.emplace_back(origin(spoke), target(spoke));
  });
  return bad.empty() ? std::vector<index>{} : legalise(std::move(bad));
}

std::vector<index> triangulation::legalise(std::vector<std::pair<index, index>> sides) {
  std::vector<index> changed;
  while (!sides.empty()) {
    const auto [a, b] = sides.back();
    sides.pop_back();
    const side s = find_side(a, b);
    if (s == none || constrained(s) || twin(s) == none) continue;
    const side other = twin(s);
    const index c = apex(s), d = apex(other);
    if (in_circle(at(a), at(b), at(c), at(d)) <= 0) continue;
    flip(s);
    changed.push_back(triangle_of(s));
    changed.push_back(triangle_of(other));
    for (const auto& each : {std::pair(b, c), std::pair(c, a), std::pair(a, d), std::pair(d, b)}) sides.push_back(each);
  }
  return changed;
}

index triangulation::first_of_fan(index v) const noexcept {
  const index begin = vertices[v].triangle;
  for (index t = begin;;) {
    const side across = twin(previous(opposite(t, v)));  // past the side that leads away from v
    if (across == none) return t;
    t = triangle_of(across);
    if (t == begin) return begin;
  }
}

side triangulation::find_side(index a, index b) const noexcept {
  side match = none;
  for_fan(a, [&](side s) {
    if (origin(s) == b) match = previous(s);
  });
  return match;
}

double twice_area(const triangulation& mesh, index t) noexcept {
  const auto& [a, b, c] = mesh.triangles[t].corner;
  return cross(mesh.at(b) - mesh.at(a), mesh.at(c) - mesh.at(a));
}

}  // namespace mesh2d
