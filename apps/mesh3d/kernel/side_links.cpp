// SPDX-License-Identifier: Apache-2.0
// Walks around edges and vertices.
#include "kernel/side_links.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/shape.hpp"

namespace mesh3d {
namespace {

unsigned position_of(const tetrahedron& in, index vertex) {
  unsigned k = 0;
  while (in.corner[k] != vertex) ++k;
  return k;
}

}  // namespace

std::uint8_t side_links::side_of_hull(facet f) {
  const auto [known, is_fresh] = hull_.try_emplace(f, std::uint8_t{0});
  if (is_fresh) {
    const auto [a, b, c] = mesh_.corners(f);
    known->second = surface_.inside(circumsphere(mesh_.at(a), mesh_.at(b), mesh_.at(c)).centre) ? 1 : 0;
  }
  return known->second;
}

bool side_links::may_touch(const point& position) const {
  const point &low = mesh_.at(0), &high = mesh_.at(7);
  unsigned faces = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double local_value = coordinate(position, axis);
    faces += local_value == coordinate(low, axis) || local_value == coordinate(high, axis) ? 1 : 0;
  }
  if (faces != 1) return false;  // more than two subdomains
  const std::optional<point> nearest = surface_.nearest(position, 2);
  return nearest && nearest->x >= low.x && nearest->y >= low.y && nearest->z >= low.z && nearest->x < high.x &&
         nearest->y < high.y && nearest->z < high.z;
}

edge_fan side_links::fan(std::array<index, 2> edge, index t) const {
  edge_fan result{.edge = edge, .tetrahedra = {t}};
  std::array<index, 2> others{none, none};
  for (const index v : mesh_.tetrahedra[t].corner) {
    if (v != edge[0] && v != edge[1]) others[others[0] == none ? 0 : 1] = v;
  }
  // Both ways around, should the first one end at the hull.
  for (const unsigned way : {1U, 0U}) {
    index site = t, rest = others[1 - way], ahead = others[way];  // crosses the facet that has the one ahead
    for (;;) {
      const facet f = facet_of(site, position_of(mesh_.tetrahedra[site], rest)), twin = mesh_.twin(f);
      if (twin == none) {
        result.hull[way] = f;
        break;
      }
      site = tetrahedron_of(twin);
      if (site == t) return result;
      rest = ahead;
      ahead = mesh_.tetrahedra[site].corner[twin & 3];
      result.tetrahedra.push_back(site);
    }
    if (way == 1) std::reverse(result.tetrahedra.begin(), result.tetrahedra.end());
  }
  std::reverse(result.tetrahedra.begin(), result.tetrahedra.end());
  return result;
}

unsigned side_links::excess(const edge_fan& fan) {
  unsigned turns = 0;
  const bool is_whole = fan.hull[0] == none;
  std::uint8_t last = is_whole ? inner_[fan.tetrahedra.back()] : side_of_hull(fan.hull[0]);
  for (const index t : fan.tetrahedra) {
    turns += inner_[t] != last ? 1 : 0;
    last = inner_[t];
  }
  if (is_whole) return turns <= 2 ? 0 : turns / 2 - 1;
  turns += side_of_hull(fan.hull[1]) != last ? 1 : 0;
  if (turns < 2 || turns % 2 == 1) return turns / 2;
  return turns / 2 - (may_touch((mesh_.at(fan.edge[0]) + mesh_.at(fan.edge[1])) * 0.5) ? 1 : 0);
}

std::vector<index> side_links::star(index vertex, index t) {
  collect(vertex, t);
  for (const index each : star_) place_[each] = 0;
  return star_;
}

void side_links::collect(index vertex, index t) {
  place_.resize(mesh_.tetrahedra.size());
  star_.assign(1, t);
  place_[t] = 1;
  for (std::size_t next = 0; next < star_.size(); ++next) {
    for (unsigned k = 0; k < 4; ++k) {
      const facet twin = mesh_.twin(facet_of(star_[next], k));
      if (mesh_.tetrahedra[star_[next]].corner[k] == vertex || twin == none) continue;
      const index other = tetrahedron_of(twin);
      if (place_[other] != 0) continue;
      star_.push_back(other);
      place_[other] = static_cast<unsigned>(star_.size());
    }
  }
}

unsigned side_links::find(unsigned set) {
  while (sets_[set] != set) set = sets_[set] = sets_[sets_[set]];
  return set;
}

/// Joins it with the facets beside it that have been seen.
void side_links::join_hull(index vertex, facet f, unsigned set) {
  const std::uint8_t side = side_of_hull(f);
  for (const index v : mesh_.corners(f)) {
    if (v == vertex) continue;
    const auto neighbour =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const hull_edge& each) { return each.other == v; });
    if (neighbour == waiting_.end()) {
      waiting_.push_back({v, set, side});
    } else if (neighbour->side != side) {
      ++turns_;
    } else {
      sets_[find(set)] = find(neighbour->set);
    }
  }
}

void side_links::join_sides(index vertex, index t) {
  collect(vertex, t);
  sets_.clear();
  waiting_.clear();
  turns_ = 0;
  for (unsigned n = 0; n < star_.size(); ++n) sets_.push_back(n);
  for (unsigned n = 0; n < star_.size(); ++n) {
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(star_[n], k), twin = mesh_.twin(f);
      if (mesh_.tetrahedra[star_[n]].corner[k] == vertex) continue;
      if (twin != none) {
        const unsigned other = place_[tetrahedron_of(twin)] - 1;
        if (inner_[star_[other]] == inner_[star_[n]]) sets_[find(n)] = find(other);
        continue;
      }
      const auto set = static_cast<unsigned>(sets_.size());
      sets_.push_back(set);
      join_hull(vertex, f, set);
      if (side_of_hull(f) == inner_[star_[n]]) sets_[find(n)] = find(set);
    }
  }
  for (const index each : star_) place_[each] = 0;
}

unsigned side_links::excess(index vertex, index t) {
  join_sides(vertex, t);
  unsigned parts = 0;
  for (unsigned set = 0; set < sets_.size(); ++set) parts += sets_[set] == set ? 1 : 0;
  const bool is_one_turn = waiting_.empty() || (turns_ == 0 && parts > 1 && may_touch(mesh_.at(vertex)));
  const unsigned most = is_one_turn ? 2 : turns_ / 2 + 1;
  return parts > most ? parts - most : 0;
}

std::vector<std::vector<index>> side_links::parts(index vertex, index t) {
  join_sides(vertex, t);
  std::vector<std::vector<index>> by_set(sets_.size());
  for (unsigned n = 0; n < star_.size(); ++n) by_set[find(n)].push_back(star_[n]);
  for (auto n = static_cast<unsigned>(star_.size()); n < sets_.size(); ++n) by_set[find(n)].clear();
  return by_set;
}

}  // namespace mesh3d
