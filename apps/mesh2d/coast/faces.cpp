// SPDX-License-Identifier: Apache-2.0
// Walks around the faces of a planar map. Half-edge 2 e leads along edge e, half-edge 2 e + 1 back; each has its
// face to the left.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "coast/planar_map.hpp"

namespace mesh2d {
namespace {

using half_edge = std::uint32_t;
constexpr std::uint32_t nothing = ~std::uint32_t{0};

/// Sets that are united.
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t find(std::uint32_t each) {
    while (parent_[each] != each) each = parent_[each] = parent_[parent_[each]];
    return each;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Edges by the rows that they meet: answers what lies beside a place.
class row_index {
 public:
  explicit row_index(const planar_map& map) : map_(map) {
    const auto [low, high] = std::minmax_element(map.vertices.begin(), map.vertices.end(),
                                                 [](const auto& a, const auto& b) { return a.y < b.y; });
    low_ = low->y;
    height_ = (high->y - low->y) / 8192 + 1;
    rows_.resize(static_cast<std::size_t>((high->y - low_) / height_) + 1);
    for (std::uint32_t e = 0; e < map.edges.size(); ++e) {
      const std::int64_t a = map.vertices[map.edges[e].begin].y, b = map.vertices[map.edges[e].end].y;
      if (a == b) continue;
      for (std::int64_t row = (std::min(a, b) - low_) / height_; row <= (std::max(a, b) - low_) / height_; ++row) {
        rows_[static_cast<std::size_t>(row)].push_back(e);
      }
    }
  }

  /// Calls `visit` with edges that cross the horizontal line at twice_y / 2, and twice the x where they do. Edges reach
  /// from their lower end, which is part of them, to their upper end, which is not.
  template <class Visit>
  void for_crossings(std::int64_t twice_y, Visit visit) const {
    const std::int64_t row = (twice_y / 2 - low_) / height_;
    if (row < 0 || row >= static_cast<std::int64_t>(rows_.size())) return;
    for (const std::uint32_t e : rows_[static_cast<std::size_t>(row)]) {
      const grid_point &a = map_.vertices[map_.edges[e].begin], &b = map_.vertices[map_.edges[e].end];
      if (2 * std::min(a.y, b.y) > twice_y || 2 * std::max(a.y, b.y) <= twice_y) continue;
      const long double part = static_cast<long double>(twice_y - 2 * a.y) / static_cast<long double>(2 * (b.y - a.y));
      visit(e, 2 * (static_cast<long double>(a.x) + part * static_cast<long double>(b.x - a.x)));
    }
  }

 private:
  const planar_map& map_;
  std::int64_t low_ = 0, height_ = 1;
  std::vector<std::vector<std::uint32_t>> rows_{};
};

class face_finder {
 public:
  explicit face_finder(const planar_map& map)
      : map_(map), rows_(map), components_(map.vertices.size()), orbits_(2 * map.edges.size()) {}

  std::vector<planar_face> find() {
    order_around_vertices();
    for (half_edge h = 0; h < 2 * map_.edges.size(); ++h) orbits_.unite(h, following(h));
    for (const planar_edge& each : map_.edges) components_.unite(each.begin, each.end);
    unite_nested();
    return describe();
  }

 private:
  [[nodiscard]] std::uint32_t origin(half_edge h) const {
    return (h & 1) == 0 ? map_.edges[h >> 1].begin : map_.edges[h >> 1].end;
  }
  [[nodiscard]] std::uint32_t target(half_edge h) const { return origin(h ^ 1); }
  [[nodiscard]] const grid_point& at(std::uint32_t v) const { return map_.vertices[v]; }

  /// Whether `h` comes before `g` around their common origin, counterclockwise from just behind the west.
  [[nodiscard]] bool earlier(half_edge h, half_edge g) const {
    const grid_point &source = at(origin(h)), &a = at(target(h)), &b = at(target(g));
    const auto upper = [&](const grid_point& point) {
      return point.y > source.y || (point.y == source.y && point.x < source.x);
    };
    const auto rank = [&](const grid_point& point) {
      return point.y == source.y && point.x > source.x ? 1 : upper(point) ? 2 : 0;
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return turn_of(source, a, b) > 0;
  }

  void order_around_vertices() {
    half_edges_.resize(2 * map_.edges.size());
    place_.resize(half_edges_.size());
    std::iota(half_edges_.begin(), half_edges_.end(), 0u);
    std::sort(half_edges_.begin(), half_edges_.end(), [&](half_edge h, half_edge g) {
      if (origin(h) != origin(g)) return origin(h) < origin(g);
      return h != g && earlier(h, g);
    });
    first_.assign(map_.vertices.size() + 1, 0);
    for (std::uint32_t k = 0; k < half_edges_.size(); ++k) {
      place_[half_edges_[k]] = k;
      ++first_[origin(half_edges_[k]) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  /// The half-edge that goes on around the face to the left: the next one clockwise around the target.
  [[nodiscard]] half_edge following(half_edge h) const {
    const std::uint32_t v = target(h), k = place_[h ^ 1];
    return half_edges_[k == first_[v] ? first_[v + 1] - 1 : k - 1];
  }

  /// Around a component lies the face that is to its west where it begins: there, the next edge westwards has the same
  /// face on its east. No circle of components can come of it, because each begins farther west than the one before.
  void unite_nested() {
    std::vector<std::uint32_t> westmost(map_.vertices.size(), nothing);
    for (std::uint32_t v = 0; v < map_.vertices.size(); ++v) {
      if (first_[v] == first_[v + 1]) continue;
      std::uint32_t& least = westmost[components_.find(v)];
      if (least == nothing || at(v) < at(least)) least = v;
    }
    for (const std::uint32_t v : westmost) {
      if (v == nothing) continue;
      std::optional<std::uint32_t> nearest;
      long double farthest_east = std::numeric_limits<long double>::lowest();
      rows_.for_crossings(2 * at(v).y, [&](std::uint32_t e, long double twice_x) {
        if (twice_x < farthest_east || components_.find(map_.edges[e].begin) == components_.find(v)) return;
        if (turn_of(at(lower(e)), at(upper(e)), at(v)) >= 0) return;  // not west of the vertex
        // Of edges that begin at one vertex on the line, the eastern one is next just above.
        const bool tie = nearest && twice_x == farthest_east;
        if (tie && turn_of(at(lower(*nearest)), at(upper(*nearest)), at(upper(e))) >= 0) return;
        nearest = e;
        farthest_east = twice_x;
      });
      const half_edge outer = half_edges_[first_[v + 1] - 1];
      if (nearest) orbits_.unite(outer, eastern(*nearest));
    }
  }

  [[nodiscard]] bool leads_up(std::uint32_t e) const { return at(map_.edges[e].end).y > at(map_.edges[e].begin).y; }
  [[nodiscard]] std::uint32_t lower(std::uint32_t e) const {
    return leads_up(e) ? map_.edges[e].begin : map_.edges[e].end;
  }
  [[nodiscard]] std::uint32_t upper(std::uint32_t e) const {
    return leads_up(e) ? map_.edges[e].end : map_.edges[e].begin;
  }
  /// The half-edge that has the face in the east to its left: it leads down.
  [[nodiscard]] half_edge eastern(std::uint32_t e) const { return 2 * e + (leads_up(e) ? 1 : 0); }

  struct description {
    bool outside = false;
    long land = 0;                        // coasts that say so, less those that say sea
    std::vector<half_edge> candidates{};  // the steepest that lead down
  };

  std::vector<planar_face> describe() {
    std::vector<description> descriptions(2 * map_.edges.size());
    for (half_edge h = 0; h < descriptions.size(); ++h) {
      description& face = descriptions[orbits_.find(h)];
      const bool back = (h & 1) != 0;
      if (map_.edges[h >> 1].kind == edge_kind::border) face.outside = face.outside || back;
      if (map_.edges[h >> 1].kind == edge_kind::coast) face.land += back ? -1 : 1;
      if (drop(h) > 0) keep_steepest(face.candidates, h);
    }
    std::vector<planar_face> faces;
    for (const description& each : descriptions) {
      if (each.outside || each.candidates.empty()) continue;
      planar_face result{.is_land = each.land > 0, .is_known = each.land != 0};
      if (find_inside(each, result)) faces.push_back(result);
    }
    return faces;
  }

  [[nodiscard]] std::int64_t drop(half_edge h) const { return at(origin(h)).y - at(target(h)).y; }
  void keep_steepest(std::vector<half_edge>& candidates, half_edge h) const {
    constexpr std::size_t most = 8;
    const auto steeper = [&](half_edge a, half_edge b) { return drop(a) > drop(b); };
    candidates.insert(std::upper_bound(candidates.begin(), candidates.end(), h, steeper), h);
    if (candidates.size() > most) candidates.pop_back();
  }

  /// Finds a point inside the face: of the gaps between a candidate edge, which leads down, and the next edge to the
  /// east, the middle of the widest. False: there is no such gap.
  bool find_inside(const description& face, planar_face& planar_face) const {
    long double widest = 0;
    for (const half_edge h : face.candidates) {
      // Odd, and between the ends: no vertex is there.
      const std::int64_t twice_y = (at(origin(h)).y + at(target(h)).y - 1) | 1;
      long double own_value = 0, next = std::numeric_limits<long double>::max();
      rows_.for_crossings(twice_y, [&](std::uint32_t e, long double twice_x) {
        if (e == h >> 1) own_value = twice_x;
      });
      rows_.for_crossings(twice_y, [&](std::uint32_t e, long double twice_x) {
        if (e != h >> 1 && twice_x > own_value) next = std::min(next, twice_x);
      });
      if (next == std::numeric_limits<long double>::max() || next - own_value <= widest) continue;
      widest = next - own_value;
      planar_face.x = static_cast<double>((own_value + next) / 4);
      planar_face.y = static_cast<double>(twice_y) / 2;
    }
    return widest > 0;
  }

  const planar_map& map_;
  row_index rows_;
  disjoint_sets components_, orbits_;
  std::vector<half_edge> half_edges_{};  // by origin, counterclockwise
  std::vector<std::uint32_t> place_{};   // of half-edges in half_edges_
  std::vector<std::uint32_t> first_{};   // in half_edges_, by vertex
};

}  // namespace

std::vector<planar_face> faces_of(const planar_map& map) { return face_finder(map).find(); }

}  // namespace mesh2d
