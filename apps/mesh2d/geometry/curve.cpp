// SPDX-License-Identifier: Apache-2.0
// Hilbert's curve.
#include "geometry/curve.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mesh2d {
namespace {

constexpr std::uint32_t cells_a_side = 1u << 16;

std::uint32_t place_of_cell(std::uint32_t x, std::uint32_t y) {
  std::uint32_t place = 0;
  for (std::uint32_t step = cells_a_side / 2; step > 0; step >>= 1) {
    const std::uint32_t right = (x & step) != 0, up = (y & step) != 0;
    place = (place << 2) | ((3 * right) ^ up);
    if (up != 0) continue;
    if (right != 0) {
      x = (cells_a_side - 1) ^ x;
      y = (cells_a_side - 1) ^ y;
    }
    std::swap(x, y);
  }
  return place;
}

}  // namespace

box bounds_of(const std::vector<point>& points) {
  box all{points.front(), points.front()};
  for (const point& p : points) {
    all.low = {std::min(all.low.x, p.x), std::min(all.low.y, p.y)};
    all.high = {std::max(all.high.x, p.x), std::max(all.high.y, p.y)};
  }
  return all;
}

std::uint32_t place_on_curve(const box& all, const point& point) {
  const double extent = std::max({all.high.x - all.low.x, all.high.y - all.low.y, coordinate_min});
  const auto cell = [extent](double source, double value) {
    return static_cast<std::uint32_t>((value - source) / extent * (cells_a_side - 1));
  };
  return place_of_cell(cell(all.low.x, point.x), cell(all.low.y, point.y));
}

}  // namespace mesh2d
