// SPDX-License-Identifier: Apache-2.0
// Splits edges where they cross, until none cross.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "coast/planar_map.hpp"

namespace mesh2d {
namespace {

struct bounds {
  std::int64_t left, right, low, high;
};

class mender {
 public:
  explicit mender(planar_map& map) : map_(map) {}

  void merge_vertices() {
    std::vector<std::uint32_t> order(map_.vertices.size()), kept(map_.vertices.size());
    for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(map_.vertices[a], a) < std::pair(map_.vertices[b], b);
    });
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool same = k > 0 && map_.vertices[order[k]] == map_.vertices[order[k - 1]];
      kept[order[k]] = same ? kept[order[k - 1]] : order[k];
    }
    for (planar_edge& each : map_.edges) each = {kept[each.begin], kept[each.end], each.kind};
  }

  /// Edges with the same ends become one, or none where as many lead forward as backward.
  void merge_edges() {
    struct sum {
      int forward = 0, border = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, sum> by_ends;
    for (const planar_edge& each : map_.edges) {
      if (each.begin == each.end) continue;
      const int direction = each.begin < each.end ? 1 : -1;
      sum& total = by_ends[std::minmax(each.begin, each.end)];
      (each.kind == edge_kind::border ? total.border : total.forward) += direction;
    }
    map_.edges.clear();
    for (const auto& [ends, total] : by_ends) {
      const int direction = total.border != 0 ? total.border : total.forward;
      if (direction == 0) continue;
      map_.edges.push_back({direction > 0 ? ends.first : ends.second, direction > 0 ? ends.second : ends.first,
                            total.border != 0 ? edge_kind::border : edge_kind::coast});
    }
  }

  /// Returns how many vertices were put on edges.
  std::size_t split_crossing() {
    fill_cells();
    splits_.assign(map_.edges.size(), {});
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < cells_.size();) {
      std::size_t end = begin;
      while (end < cells_.size() && cells_[end].first == cells_[begin].first) ++end;
      for (std::size_t k = begin; k < end; ++k) {
        for (std::size_t l = begin; l < k; ++l) compare(cells_[k].second, cells_[l].second);
      }
      begin = end;
    }
    const std::size_t edges = map_.edges.size();
    for (std::uint32_t e = 0; e < edges; ++e) count += apply(e);
    return count;
  }

 private:
  [[nodiscard]] bounds box_of(const planar_edge& each) const {
    const grid_point &a = map_.vertices[each.begin], &b = map_.vertices[each.end];
    return {std::min(a.x, b.x), std::max(a.x, b.x), std::min(a.y, b.y), std::max(a.y, b.y)};
  }

  /// Lists edges by the cells of a coarse grid that their boxes meet.
  void fill_cells() {
    bounds all{planar_coordinate_max, -planar_coordinate_max, planar_coordinate_max, -planar_coordinate_max};
    for (const planar_edge& each : map_.edges) {
      const bounds box = box_of(each);
      all = {std::min(all.left, box.left), std::max(all.right, box.right), std::min(all.low, box.low),
             std::max(all.high, box.high)};
    }
    const auto cells_a_side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(map_.edges.size()))) + 1;
    const std::int64_t size = std::max(all.right - all.left, all.high - all.low) / cells_a_side + 1;
    cells_.clear();
    for (std::uint32_t e = 0; e < map_.edges.size(); ++e) {
      const bounds box = box_of(map_.edges[e]);
      for (std::int64_t column = (box.left - all.left) / size; column <= (box.right - all.left) / size; ++column) {
        for (std::int64_t row = (box.low - all.low) / size; row <= (box.high - all.low) / size; ++row) {
          cells_.emplace_back(column * (cells_a_side + 1) + row, e);
        }
      }
    }
    std::sort(cells_.begin(), cells_.end());
  }

  void compare(std::uint32_t e, std::uint32_t f) {
    const planar_edge &first = map_.edges[e], &second = map_.edges[f];
    const bounds one = box_of(first), other = box_of(second);
    if (one.right < other.left || other.right < one.left || one.high < other.low || other.high < one.low) return;
    const grid_point a = map_.vertices[first.begin], b = map_.vertices[first.end];
    const grid_point c = map_.vertices[second.begin], d = map_.vertices[second.end];
    const std::int64_t of_c = turn_of(a, b, c), of_d = turn_of(a, b, d), of_a = turn_of(c, d, a),
                       of_b = turn_of(c, d, b);
    if (of_c == 0) put_between(e, second.begin);
    if (of_d == 0) put_between(e, second.end);
    if (of_a == 0) put_between(f, first.begin);
    if (of_b == 0) put_between(f, first.end);
    const auto opposite = [](std::int64_t u, std::int64_t v) { return (u < 0 && v > 0) || (u > 0 && v < 0); };
    if (!opposite(of_c, of_d) || !opposite(of_a, of_b)) return;
    const long double part = static_cast<long double>(of_a) / (static_cast<long double>(of_a) - of_b);
    const grid_point point{a.x + std::llroundl(part * static_cast<long double>(b.x - a.x)),
                           a.y + std::llroundl(part * static_cast<long double>(b.y - a.y))};
    // Both edges meet in this vertex, also where it is an end of one of them.
    const std::uint32_t v = point == a   ? first.begin
                            : point == b ? first.end
                            : point == c ? second.begin
                            : point == d ? second.end
                                         : add(point);
    splits_[e].push_back(v);
    splits_[f].push_back(v);
  }

  std::uint32_t add(const grid_point& point) {
    map_.vertices.push_back(point);
    return static_cast<std::uint32_t>(map_.vertices.size() - 1);
  }

  /// Splits an edge at a vertex on its line that lies between its ends.
  void put_between(std::uint32_t e, std::uint32_t v) {
    const planar_edge& edge = map_.edges[e];
    const grid_point point = map_.vertices[v], a = map_.vertices[edge.begin], b = map_.vertices[edge.end];
    if (point == a || point == b) return;
    const bounds bounds = box_of(edge);
    if (point.x >= bounds.left && point.x <= bounds.right && point.y >= bounds.low && point.y <= bounds.high)
      splits_[e].push_back(v);
  }

  std::size_t apply(std::uint32_t e) {
    auto& splits = splits_[e];
    const planar_edge whole = map_.edges[e];
    const grid_point a = map_.vertices[whole.begin], b = map_.vertices[whole.end];
    const auto along = [&](std::uint32_t v) {
      const grid_point& point = map_.vertices[v];
      return (point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y);
    };
    std::sort(splits.begin(), splits.end(),
              [&](std::uint32_t u, std::uint32_t v) { return std::pair(along(u), u) < std::pair(along(v), v); });
    std::uint32_t last = whole.begin;
    std::size_t count = 0;
    for (const std::uint32_t v : splits) {
      if (v == last || v == whole.end || v == whole.begin) continue;
      if (count++ == 0) {
        map_.edges[e].end = v;
      } else {
        map_.edges.push_back({last, v, whole.kind});
      }
      last = v;
    }
    if (count > 0) map_.edges.push_back({last, whole.end, whole.kind});
    return count;
  }

  planar_map& map_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> cells_{};  // and edges in them
  std::vector<std::vector<std::uint32_t>> splits_{};             // vertices on each edge
};

}  // namespace

std::size_t make_planar(planar_map& map, const std::string& name) {
  mender mender(map);
  std::size_t mended = 0;
  for (int pass = 0; pass < 50; ++pass) {
    mender.merge_vertices();
    mender.merge_edges();
    const std::size_t split = mender.split_crossing();
    if (split == 0) return mended;
    mended += split;
  }
  throw nacre::setup_error({fmt::format("{}: the coasts cross each other in too many places", name),
                            "a mesh needs coasts that do not cross", "choose another region or projection"});
}

}  // namespace mesh2d
