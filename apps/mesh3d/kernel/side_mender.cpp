// SPDX-License-Identifier: Apache-2.0
// Chooses points to insert, and tetrahedra to turn over to the other side.
#include "kernel/side_mender.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace mesh3d {

side_mender::side_mender(triangulation& mesh, const quality_rule& rule, side_list& inner, std::vector<index>& turned)
    : mesh_(mesh),
      rule_(rule),
      inner_(inner),
      turned_(turned),
      points_(mesh, rule),
      links_(mesh, inner, *rule.size.surface) {}

/// Where sides differ across the facet. Of two twins it is the inner one.
bool side_mender::is_boundary(facet f) {
  const facet twin = mesh_.twin(f);
  const std::uint8_t side = inner_[tetrahedron_of(f)];
  return twin == none ? side != links_.side_of_hull(f) : side > inner_[tetrahedron_of(twin)];
}

/// Tries the places of the facets of the boundary that have all these vertices; that of the largest empty sphere first.
bool side_mender::insert(const list& surroundings, const std::vector<index>& indexes) {
  std::vector<std::tuple<double, point, facet>> places;
  for (const index t : surroundings) {
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(t, k);
      const auto corners = mesh_.corners(f);
      const bool has_all = std::all_of(indexes.begin(), indexes.end(), [&](index v) {
        return std::find(corners.begin(), corners.end(), v) != corners.end();
      });
      if (!has_all || !is_boundary(f)) continue;
      const std::optional<point> place = points_.on_surface_for(f);
      if (place) places.emplace_back(-squared_length(*place - mesh_.at(corners[0])), *place, f);
    }
  }
  std::sort(places.begin(), places.end());
  for (const auto& [radius, place, f] : places) {
    const list* const filled = points_.insert_on_surface_for(f);
    if (filled == nullptr) continue;
    inner_.resize(mesh_.tetrahedra.size());
    for (const index t : *filled) inner_[t] = points_.is_inside(t) ? 1 : 0;
    links_.forget_hull();
    return true;
  }
  return false;
}

void side_mender::turn(const list& tetrahedra) {
  for (const index t : tetrahedra) {
    inner_[t] ^= 1;
    const auto place = std::lower_bound(turned_.begin(), turned_.end(), t);
    if (place != turned_.end() && *place == t) {
      turned_.erase(place);
    } else {
      turned_.insert(place, t);
    }
  }
}

unsigned side_mender::excess_around(const list& tetrahedra) {
  std::vector<std::array<index, 2>> edges, vertices;  // vertices with a tetrahedron
  unsigned sum = 0;
  for (const index t : tetrahedra) {
    const auto& corner = mesh_.tetrahedra[t].corner;
    for (unsigned k = 0; k < 4; ++k) {
      const auto is_known = [&](const std::array<index, 2>& each) { return each[0] == corner[k]; };
      if (std::none_of(vertices.begin(), vertices.end(), is_known)) vertices.push_back({corner[k], t});
      for (unsigned l = 0; l < k; ++l) {
        const std::array<index, 2> edge{std::min(corner[k], corner[l]), std::max(corner[k], corner[l])};
        if (std::find(edges.begin(), edges.end(), edge) != edges.end()) continue;
        edges.push_back(edge);
        sum += links_.excess(links_.fan(edge, t));
      }
    }
  }
  for (const auto& [vertex, t] : vertices) sum += links_.excess(vertex, t);
  return sum;
}

double side_mender::volume(const list& tetrahedra) const {
  double sum = 0;
  for (const index t : tetrahedra) {
    const auto& [a, b, c, d] = mesh_.tetrahedra[t].corner;
    sum += dot(mesh_.at(b) - mesh_.at(a), cross(mesh_.at(c) - mesh_.at(a), mesh_.at(d) - mesh_.at(a)));
  }
  return sum;
}

/// Turns those after which the fewest faults are left, if these are fewer than before.
bool side_mender::turn(const std::vector<list>& choices) {
  const list* best = nullptr;
  int most = 0;
  double least = 0;
  for (const list& each : choices) {
    if (each.empty()) continue;
    const unsigned previous = excess_around(each);
    turn(each);
    const int saved = static_cast<int>(previous) - static_cast<int>(excess_around(each));
    turn(each);
    const double size = volume(each);
    if (saved < most || saved <= 0 || (saved == most && size >= least)) continue;
    best = &each;
    most = saved;
    least = size;
  }
  if (best != nullptr) turn(*best);
  return best != nullptr;
}

bool side_mender::mend_edge(const edge_fan& fan, bool inserts) {
  if (inserts) return insert(fan.tetrahedra, {fan.edge[0], fan.edge[1]});
  std::vector<list> runs, singles;
  for (const index t : fan.tetrahedra) {
    if (runs.empty() || inner_[runs.back().back()] != inner_[t]) runs.emplace_back();
    runs.back().push_back(t);
    singles.push_back({t});
  }
  if (fan.hull[0] == none && runs.size() > 1 && inner_[runs.front()[0]] == inner_[runs.back()[0]]) {
    runs.front().insert(runs.front().end(), runs.back().begin(), runs.back().end());
    runs.pop_back();
  }
  runs.insert(runs.end(), singles.begin(), singles.end());
  return turn(runs);
}

bool side_mender::mend_vertex(index vertex, index t, bool inserts) {
  if (inserts) return insert(links_.star(vertex, t), {vertex});
  std::vector<list> choices = links_.parts(vertex, t);
  for (const index each : links_.star(vertex, t)) choices.push_back({each});
  return turn(choices);
}

/// Looks at what the tetrahedron has of the boundary, until something has been mended: the rest is another mesh then.
void side_mender::look(index t, mend_state& state) {
  const auto note = [&](bool mended) {
    state.finds_bad = true;
    state.changed = state.changed || mended;
    return mended;
  };
  for (unsigned k = 0; k < 4; ++k) {
    const facet f = facet_of(t, k);
    if (!is_boundary(f)) continue;
    const auto corners = mesh_.corners(f);
    for (unsigned l = 0; l < 3; ++l) {
      const edge_fan fan = links_.fan({corners[l], corners[(l + 1) % 3]}, t);
      if (links_.excess(fan) > 0 && note(mend_edge(fan, state.inserts))) return;
    }
  }
  for (unsigned k = 0; k < 4; ++k) {
    const facet f = facet_of(t, k);
    if (!is_boundary(f)) continue;
    for (const index v : mesh_.corners(f)) {
      if (seen_[v]) continue;
      seen_[v] = true;
      if (links_.excess(v, t) > 0 && note(mend_vertex(v, t, state.inserts))) return;
    }
  }
}

side_mender::progress side_mender::mend(mend_state& state, std::size_t looks) {
  seen_.assign(mesh_.vertices.size(), false);
  for (; looks > 0 && state.cursor < mesh_.tetrahedra.size(); --looks, ++state.cursor) {
    const index t = state.cursor;
    seen_.resize(mesh_.vertices.size(), false);
    if (mesh_.in_use(t)) look(t, state);
  }
  if (state.cursor < mesh_.tetrahedra.size()) return progress::more;
  const bool inserted = state.inserts && state.changed, ends = !state.finds_bad || (!state.inserts && !state.changed);
  const std::uint32_t rounds = state.rounds + (inserted ? 1 : 0);
  state = {.inserts = inserted && rounds < rounds_max, .rounds = rounds};
  return inserted ? progress::inserted : ends ? progress::done : progress::more;
}

}  // namespace mesh3d
