// SPDX-License-Identifier: Apache-2.0
// Clips edge by edge.
#include "coast/clip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace mesh2d {
namespace {

class clipper {
 public:
  clipper(const grid_rectangle& within, std::int64_t step) : in_(within), step_(step) {}

  void add_line(const coast_line& line, std::int64_t shift) {
    const auto [low, high] = std::minmax_element(line.points.begin(), line.points.end());
    if (high->x + shift < in_.west || low->x + shift > in_.east) return;
    for (std::size_t k = 0; k + 1 < line.points.size(); ++k) {
      add_edge({line.points[k].x + shift, line.points[k].y}, {line.points[k + 1].x + shift, line.points[k + 1].y});
    }
  }

  planar_map finish() {
    add_border({in_.west, in_.south}, {in_.east, in_.south});
    add_border({in_.east, in_.south}, {in_.east, in_.north});
    add_border({in_.east, in_.north}, {in_.west, in_.north});
    add_border({in_.west, in_.north}, {in_.west, in_.south});
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool inside(const grid_point& at) const {
    return at.x > in_.west && at.x < in_.east && at.y > in_.south && at.y < in_.north;
  }

  std::uint32_t vertex(const grid_point& at) {
    const auto [known, fresh] = numbers_.try_emplace(at, static_cast<std::uint32_t>(made_.vertices.size()));
    if (fresh) made_.vertices.push_back(at);
    return known->second;
  }

  void add(const grid_point& from, const grid_point& to, edge_kind kind) {
    if (from == to) return;
    const std::uint32_t a = vertex(from), b = vertex(to);
    made_.edges.push_back({a, b, kind});
  }

  void add_edge(const grid_point& from, const grid_point& to) {
    if (inside(from) && inside(to)) return add(from, to, edge_kind::coast);
    // Liang and Barsky: the stretch of the edge, from 0 to 1, that is within all four sides.
    double begin = 0, end = 1;
    const std::array<std::pair<std::int64_t, std::int64_t>, 4> sides{{{from.x - to.x, from.x - in_.west},
                                                                      {to.x - from.x, in_.east - from.x},
                                                                      {from.y - to.y, from.y - in_.south},
                                                                      {to.y - from.y, in_.north - from.y}}};
    std::size_t entry = sides.size(), exit = sides.size();
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const auto [outwards, room] = sides[k];
      if (outwards == 0 && room < 0) return;
      if (outwards == 0) continue;
      const double at = static_cast<double>(room) / static_cast<double>(outwards);
      if (outwards < 0 && at > begin) {
        begin = at;
        entry = k;
      }
      if (outwards > 0 && at < end) {
        end = at;
        exit = k;
      }
    }
    if (begin >= end) return;
    add(entry == sides.size() ? from : on_side(from, to, begin, entry),
        exit == sides.size() ? to : on_side(from, to, end, exit), edge_kind::coast);
  }

  grid_point on_side(const grid_point& from, const grid_point& to, double part, std::size_t side) {
    const auto between = [part](std::int64_t a, std::int64_t b) {
      return std::int64_t{a + std::llround(part * static_cast<double>(b - a))};
    };
    grid_point at{std::clamp(between(from.x, to.x), in_.west, in_.east),
                  std::clamp(between(from.y, to.y), in_.south, in_.north)};
    if (side == 0) at.x = in_.west;
    if (side == 1) at.x = in_.east;
    if (side == 2) at.y = in_.south;
    if (side == 3) at.y = in_.north;
    on_border_.push_back(at);
    return at;
  }

  void add_border(const grid_point& from, const grid_point& to) {
    std::vector<grid_point> on{from, to};
    const std::int64_t length = std::abs(to.x - from.x) + std::abs(to.y - from.y), pieces = length / step_ + 1;
    for (std::int64_t k = 1; k < pieces; ++k) {
      const std::int64_t along = length * k / pieces;
      on.push_back({from.x + (to.x > from.x   ? along
                              : to.x < from.x ? -along
                                              : 0),
                    from.y + (to.y > from.y   ? along
                              : to.y < from.y ? -along
                                              : 0)});
    }
    for (const grid_point& each : on_border_) {
      if (from.x == to.x ? each.x == from.x : each.y == from.y) on.push_back(each);
    }
    std::sort(on.begin(), on.end());
    if (to < from) std::reverse(on.begin(), on.end());
    for (std::size_t k = 0; k + 1 < on.size(); ++k) add(on[k], on[k + 1], edge_kind::border);
  }

  grid_rectangle in_;
  std::int64_t step_;
  planar_map made_{};
  std::map<grid_point, std::uint32_t> numbers_{};
  std::vector<grid_point> on_border_{};
};

}  // namespace

planar_map clip(const coast_map& coasts, const grid_rectangle& within, double km2_min, std::int64_t step) {
  clipper made(within, step);
  for (const coast_line& each : coasts.lines) {
    if (each.km2 < km2_min) continue;
    for (const std::int64_t turns : {-1, 0, 1}) made.add_line(each, turns * coasts.turn);
  }
  return made.finish();
}

}  // namespace mesh2d
