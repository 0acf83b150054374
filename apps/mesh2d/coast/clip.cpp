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
  clipper(const grid_rectangle& grid_rectangle, std::int64_t step) : in_(grid_rectangle), step_(step) {}

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
    return std::move(clipped_);
  }

 private:
  [[nodiscard]] bool inside(const grid_point& point) const {
    return point.x > in_.west && point.x < in_.east && point.y > in_.south && point.y < in_.north;
  }

  std::uint32_t vertex(const grid_point& point) {
    const auto [known, fresh] = numbers_.try_emplace(point, static_cast<std::uint32_t>(clipped_.vertices.size()));
    if (fresh) clipped_.vertices.push_back(point);
    return known->second;
  }

  void add(const grid_point& source, const grid_point& target, edge_kind kind) {
    if (source == target) return;
    const std::uint32_t a = vertex(source), b = vertex(target);
    clipped_.edges.push_back({a, b, kind});
  }

  void add_edge(const grid_point& source, const grid_point& target) {
    if (inside(source) && inside(target)) return add(source, target, edge_kind::coast);
    // Liang and Barsky: the stretch of the edge, from 0 to 1, that is within all four sides.
    double begin = 0, end = 1;
    const std::array<std::pair<std::int64_t, std::int64_t>, 4> sides{{{source.x - target.x, source.x - in_.west},
                                                                      {target.x - source.x, in_.east - source.x},
                                                                      {source.y - target.y, source.y - in_.south},
                                                                      {target.y - source.y, in_.north - source.y}}};
    std::size_t entry = sides.size(), exit = sides.size();
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const auto [outwards, room] = sides[k];
      if (outwards == 0 && room < 0) return;
      if (outwards == 0) continue;
      const double time = static_cast<double>(room) / static_cast<double>(outwards);
      if (outwards < 0 && time > begin) {
        begin = time;
        entry = k;
      }
      if (outwards > 0 && time < end) {
        end = time;
        exit = k;
      }
    }
    if (begin >= end) return;
    add(entry == sides.size() ? source : on_side(source, target, begin, entry),
        exit == sides.size() ? target : on_side(source, target, end, exit), edge_kind::coast);
  }

  grid_point on_side(const grid_point& source, const grid_point& target, double part, std::size_t side) {
    const auto range = [part](std::int64_t a, std::int64_t b) {
      return std::int64_t{a + std::llround(part * static_cast<double>(b - a))};
    };
    grid_point point{std::clamp(range(source.x, target.x), in_.west, in_.east),
                     std::clamp(range(source.y, target.y), in_.south, in_.north)};
    if (side == 0) point.x = in_.west;
    if (side == 1) point.x = in_.east;
    if (side == 2) point.y = in_.south;
    if (side == 3) point.y = in_.north;
    on_border_.push_back(point);
    return point;
  }

  void add_border(const grid_point& source, const grid_point& target) {
    std::vector<grid_point> grid_points{source, target};
    const std::int64_t length = std::abs(target.x - source.x) + std::abs(target.y - source.y),
                       pieces = length / step_ + 1;
    for (std::int64_t k = 1; k < pieces; ++k) {
      const std::int64_t along = length * k / pieces;
      grid_points.push_back({source.x + (target.x > source.x   ? along
                                         : target.x < source.x ? -along
                                                               : 0),
                             source.y + (target.y > source.y   ? along
                                         : target.y < source.y ? -along
                                                               : 0)});
    }
    for (const grid_point& each : on_border_) {
      if (source.x == target.x ? each.x == source.x : each.y == source.y) grid_points.push_back(each);
    }
    std::sort(grid_points.begin(), grid_points.end());
    if (target < source) std::reverse(grid_points.begin(), grid_points.end());
    for (std::size_t k = 0; k + 1 < grid_points.size(); ++k) add(grid_points[k], grid_points[k + 1], edge_kind::border);
  }

  grid_rectangle in_;
  std::int64_t step_;
  planar_map clipped_{};
  std::map<grid_point, std::uint32_t> numbers_{};
  std::vector<grid_point> on_border_{};
};

}  // namespace

planar_map clip(const coast_map& coasts, const grid_rectangle& grid_rectangle, double km2_min, std::int64_t step) {
  clipper clipper(grid_rectangle, step);
  for (const coast_line& each : coasts.lines) {
    if (each.km2 < km2_min) continue;
    for (const std::int64_t turns : {-1, 0, 1}) clipper.add_line(each, turns * coasts.turn);
  }
  return clipper.finish();
}

}  // namespace mesh2d
