// SPDX-License-Identifier: Apache-2.0
// The loop of refinement. It looks at triangles in the order of the array, to whose end new ones go, so that memory is
// used in order; those that change behind the cursor are remembered.
#include "kernel/refiner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh2d {

refiner::refiner(part& work, const size_rule& rule) noexcept
    : work_(work), rule_(rule), height_min_(work.height_min()) {}

bool refiner::refine(std::size_t triangles_max) {
  if (!rule_.refines()) return true;
  if (!work_.state.begun) begin();
  refine_state& state = work_.state;
  const std::size_t until = work_.mesh.triangles.size() + triangles_max;
  if (work_.mesh.triangles.size() > part::triangles_max) {
    throw std::runtime_error("a subdomain has more than 500 million triangles: ask for more of them by --subdomains");
  }
  for (std::size_t steps = 0; work_.mesh.triangles.size() < until && steps < 16 * triangles_max; ++steps) {
    if (!state.to_split.empty()) {
      const auto ends = state.to_split.back();
      state.to_split.pop_back();
      split_requested(ends);
    } else if (!state.again.empty()) {
      const index t = state.again.back();
      state.again.pop_back();
      // Flips and splits may leave the triangle bad without naming it once more.
      if (improve(t) == outcome::changed) state.again.push_back(t);
    } else if (state.cursor < work_.mesh.triangles.size()) {
      if (improve(state.cursor) != outcome::changed) ++state.cursor;
    } else {
      return true;
    }
  }
  return false;
}

void refiner::begin() {
  work_.state.begun = true;
  for (index t = 0; t < work_.mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) inspect_side(side_of(t, k));
  }
}

bool refiner::improvable(index t) const noexcept {
  const triangulation& mesh = work_.mesh;
  unsigned shortest = 0;
  const bool thin = rule_.too_thin(mesh, t, shortest), large = rule_.too_large(mesh, t);
  if (!thin && !large) return false;
  double longest = 0;
  for (unsigned k = 0; k < 3; ++k) {
    const side s = side_of(t, k);
    longest = std::max(longest, squared_length(mesh.at(mesh.target(s)) - mesh.at(mesh.origin(s))));
  }
  const double twice = twice_area(mesh, t);
  if (twice * twice < height_min_ * height_min_ * longest) return false;
  return large || !work_.fills_wedge(t);
}

refiner::outcome refiner::improve(index t) { return improvable(t) ? insert_centre(t) : outcome::good; }

index refiner::walk(index t, const point& target, side& blocked) const noexcept {
  const triangulation& mesh = work_.mesh;
  side s = none;
  for (unsigned k = 0; k < 3 && s == none; ++k) {
    const side each = side_of(t, k);
    if (orient(mesh.at(mesh.origin(each)), mesh.at(mesh.target(each)), target) < 0) s = each;
  }
  if (s == none) return t;
  const point source = mesh.at(mesh.apex(s));
  for (std::size_t step = 0; step < 100'000; ++step) {
    const side other = mesh.twin(s);
    if (other == none || mesh.constrained(s)) {
      blocked = s;
      return none;
    }
    const point& beyond = mesh.at(mesh.apex(other));
    const bool apex_is_left = orient(source, target, beyond) > 0;
    const side ahead = apex_is_left ? next(other) : previous(other);
    if (orient(mesh.at(mesh.origin(ahead)), mesh.at(mesh.target(ahead)), target) >= 0) {
      const side across = apex_is_left ? previous(other) : next(other);
      if (orient(mesh.at(mesh.origin(across)), mesh.at(mesh.target(across)), target) >= 0) return triangle_of(other);
      s = across;
      continue;
    }
    s = ahead;
  }
  return none;
}

refiner::outcome refiner::insert_centre(index t) {
  triangulation& mesh = work_.mesh;
  const auto [first, second, third] = mesh.triangles[t].corner;
  const point a = mesh.at(first), b = mesh.at(second) - a, c = mesh.at(third) - a;
  const double twice = 2 * cross(b, c), of_b = squared_length(b), of_c = squared_length(c);
  const point centre{kept_in_range(a.x + (c.y * of_b - b.y * of_c) / twice),
                     kept_in_range(a.y + (b.x * of_c - c.x * of_b) / twice)};
  if (!std::isfinite(centre.x) || !std::isfinite(centre.y)) return outcome::hopeless;
  side blocked = none;
  const index in = walk(t, centre, blocked);
  if (blocked != none) return split_in_way(t, {&blocked, 1});
  if (in == none) return outcome::hopeless;
  for (const index v : mesh.triangles[in].corner) {
    if (mesh.at(v) == centre) return outcome::hopeless;
  }
  if (!hole_.collect(mesh, centre, in)) return insert_by_flips(in, centre);
  if (!hole_.encroached().empty()) {
    hole_.drop(mesh);
    return split_in_way(t, hole_.encroached());
  }
  hole_.fill(mesh, centre);
  for (const index each : hole_.filled()) {
    if (each < work_.state.cursor && improvable(each)) work_.state.again.push_back(each);
  }
  return outcome::changed;
}

refiner::outcome refiner::insert_by_flips(index t, const point& point) {
  triangulation& mesh = work_.mesh;
  for (unsigned k = 0; k < 3; ++k) {
    const side s = side_of(t, k);
    if (orient(mesh.at(mesh.origin(s)), mesh.at(mesh.target(s)), point) <= 0) return outcome::hopeless;
  }
  const index v = mesh.add_vertex(point);
  mesh.split_triangle(t, v);
  mesh.legalise_around(v);
  inspect_fan(v);
  return outcome::changed;
}

refiner::outcome refiner::split_in_way(index t, std::span<const side> sides) {
  const triangulation& mesh = work_.mesh;
  unsigned shortest = 0;
  static_cast<void>(rule_.too_thin(mesh, t, shortest));
  const side base = side_of(t, shortest);
  if (rule_.too_large(mesh, t) || !work_.spans_small_angle(mesh.origin(base), mesh.target(base))) {
    return request_splits(sides);
  }
  // Splits on account of such a triangle could go on for ever, but for these.
  std::vector<side> harmless;
  for (const side s : {base, next(base), previous(base)}) {
    if (mesh.constrained(s) && work_.longer_than_shielded(s)) harmless.push_back(s);
  }
  for (const side s : sides) {
    if (work_.outside_shield(base, s)) harmless.push_back(s);
  }
  return request_splits(harmless);
}

refiner::outcome refiner::request_splits(std::span<const side> sides) {
  outcome result = outcome::hopeless;
  for (const side s : sides) {
    std::uint32_t number = none;
    index middle = none;
    if (!long_enough(s) || !can_split(s, number, middle)) continue;
    work_.state.to_split.emplace_back(work_.mesh.origin(s), work_.mesh.target(s));
    result = outcome::changed;
  }
  return result;
}

bool refiner::can_split(side s, std::uint32_t& number, index& middle) const noexcept {
  number = work_.piece_of(s);
  if (number == none) return false;
  const piece& piece = work_.pieces[number];
  const index a = work_.fraction_of(work_.mesh.origin(s), piece), b = work_.fraction_of(work_.mesh.target(s), piece);
  if (std::max(a, b) - std::min(a, b) < 2) return false;
  middle = std::min(a, b) + (std::max(a, b) - std::min(a, b)) / 2;
  const point position = piece.at(middle);
  for (const side each : {s, work_.mesh.twin(s)}) {
    if (each == none) continue;
    const triangulation& mesh = work_.mesh;
    const point &source = mesh.at(mesh.origin(each)), &target = mesh.at(mesh.target(each)),
                &apex = mesh.at(mesh.apex(each));
    if (orient(source, position, apex) <= 0 || orient(position, target, apex) <= 0) return false;
  }
  return true;
}

bool refiner::long_enough(side s) const noexcept {
  const triangulation& mesh = work_.mesh;
  return squared_length(mesh.at(mesh.origin(s)) - mesh.at(mesh.target(s))) > 4 * height_min_ * height_min_;
}

index refiner::split(side s, std::uint32_t number, index middle) {
  triangulation& mesh = work_.mesh;
  const index v = mesh.add_vertex(work_.pieces[number].at(middle));
  mesh.vertices[v].place = number;
  mesh.vertices[v].fraction = middle;
  mesh.split_side(s, v);
  mesh.legalise_around(v);
  if (work_.pieces[number].neighbour != none) {
    auto& chain = work_.chains[number];
    const auto next = std::lower_bound(chain.begin(), chain.end(), middle,
                                       [](const chain_vertex& each, index f) { return each.fraction < f; });
    chain.insert(next, {middle, v});
  }
  inspect_fan(v);
  for (const index t : mesh.legalise_spokes(v)) {
    if (t < work_.state.cursor && improvable(t)) work_.state.again.push_back(t);
    for (unsigned k = 0; k < 3; ++k) inspect_side(side_of(t, k));
  }
  return v;
}

void refiner::split_requested(std::pair<index, index> ends) {
  side s = work_.mesh.find_side(ends.first, ends.second);
  if (s == none) s = work_.mesh.find_side(ends.second, ends.first);
  std::uint32_t number = none;
  index middle = none;
  if (s == none || !long_enough(s) || !can_split(s, number, middle)) return;
  split(s, number, middle);
  const piece& piece = work_.pieces[number];
  if (piece.neighbour != none) work_.state.to_tell.push_back({piece.neighbour, {piece.name, middle}});
}

void refiner::inspect_fan(index v) {
  const triangulation& mesh = work_.mesh;
  mesh.for_fan(v, [&](side s) {
    const index t = triangle_of(s);
    if (t < work_.state.cursor && improvable(t)) work_.state.again.push_back(t);
    for (unsigned k = 0; k < 3; ++k) inspect_side(side_of(t, k));
  });
}

void refiner::inspect_side(side s) {
  const triangulation& mesh = work_.mesh;
  if (!mesh.constrained(s)) return;
  const index a = mesh.origin(s), b = mesh.target(s);
  const point& apex = mesh.at(mesh.apex(s));
  if (dot(mesh.at(a) - apex, mesh.at(b) - apex) < 0 && !work_.faces_wedge(s)) {
    work_.state.to_split.emplace_back(a, b);
  }
}

void refiner::apply(const piece_split& given) {
  if (!work_.state.begun) begin();
  const auto match = std::lower_bound(work_.piece_by_name.begin(), work_.piece_by_name.end(),
                                      std::pair(given.piece, std::uint32_t{0}));
  const bool known = match != work_.piece_by_name.end() && match->first == given.piece;
  if (!known || work_.chains[match->second].empty() || given.fraction == 0 || given.fraction >= whole_fraction) {
    throw std::runtime_error("a neighbour splits an interface that this subdomain does not have");
  }
  ensure(match->second, given.fraction);
}

void refiner::ensure(std::uint32_t number, index fraction) {
  const auto find = [&](index f) {
    const auto& chain = work_.chains[number];
    const auto match = std::lower_bound(chain.begin(), chain.end(), f,
                                        [](const chain_vertex& each, index g) { return each.fraction < g; });
    return match != chain.end() && match->fraction == f ? match->vertex : none;
  };
  if (find(fraction) != none) return;
  const index half = index{1} << std::countr_zero(fraction);
  ensure(number, fraction - half);
  ensure(number, fraction + half);
  const index a = find(fraction - half), b = find(fraction + half);
  side s = work_.mesh.find_side(a, b);
  if (s == none) s = work_.mesh.find_side(b, a);
  std::uint32_t same = none;
  index middle = none;
  if (s == none || !can_split(s, same, middle) || same != number || middle != fraction) {
    throw std::runtime_error("a subdomain cannot split an interface where its neighbour did");
  }
  split(s, number, middle);
}

}  // namespace mesh2d
