// SPDX-License-Identifier: Apache-2.0
// Inserts points in rounds of random samples.
#include "kernel/delaunay.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "kernel/cavity.hpp"

namespace mesh3d {
namespace {

constexpr unsigned bits = 10;  // of each coordinate of a cell

/// The place of a cell on Hilbert's curve (Skilling 2004).
std::uint32_t hilbert_place(std::array<std::uint32_t, 3> cell) {
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1) {
    for (std::uint32_t& each : cell) {
      if ((each & bit) != 0) {
        cell[0] ^= bit - 1;
      } else {
        const std::uint32_t swapped = (cell[0] ^ each) & (bit - 1);
        cell[0] ^= swapped;
        each ^= swapped;
      }
    }
  }
  cell[1] ^= cell[0];
  cell[2] ^= cell[1];
  std::uint32_t gray = 0;
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1) {
    if ((cell[2] & bit) != 0) gray ^= bit - 1;
  }
  std::uint32_t place = 0;
  for (unsigned k = bits; k-- > 0;) {
    for (const std::uint32_t each : cell) place = place << 1 | ((each ^ gray) >> k & 1);
  }
  return place;
}

std::array<std::uint32_t, 3> cell_of(const point& position, const point& low, double extent) {
  const auto cell = [&](double value) { return static_cast<std::uint32_t>(value / extent * ((1u << bits) - 1)); };
  const point from_low = position - low;
  return {cell(from_low.x), cell(from_low.y), cell(from_low.z)};
}

}  // namespace

std::vector<std::uint32_t> insertion_order(const std::vector<point>& points) {
  if (points.empty()) return {};
  point low = points.front(), high = low;
  for (const point& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const point size = high - low;
  const double extent = std::max({size.x, size.y, size.z, coordinate_min});
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // place on the curve, point
  for (std::uint32_t k = 0; k < points.size(); ++k) {
    order.emplace_back(hilbert_place(cell_of(points[k], low, extent)), k);
  }
  std::mt19937 random(1);  // its numbers are the same everywhere, unlike those of std::shuffle
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  for (std::size_t begin = 0, round = 64; begin < order.size(); begin += round, round *= 2) {
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
              order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), begin + round)));
  }
  std::vector<std::uint32_t> result;
  for (const auto& [place, k] : order) result.push_back(k);
  return result;
}

triangulation triangulate(const point& low, const point& high, const std::vector<point>& points) {
  triangulation mesh = triangulate_box(low, high);
  mesh.tetrahedra.reserve(7 * points.size() + 64);
  mesh.vertices.reserve(points.size() + 8);
  cavity hole;
  index last = 0;
  for (const std::uint32_t k : insertion_order(points)) {
    const point& position = points[k];
    last = mesh.find(position, last);
    const auto& corner = mesh.tetrahedra[last].corner;
    if (std::any_of(corner.begin(), corner.end(), [&](index v) { return mesh.at(v) == position; })) continue;
    hole.collect(mesh, position, last);
    hole.fill(mesh, position);
    last = hole.filled().back();
  }
  return mesh;
}

}  // namespace mesh3d
