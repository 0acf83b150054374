// SPDX-License-Identifier: Apache-2.0
// Inserts points in rounds of random samples, each along a space-filling curve, by splits and flips.
#include "kernel/delaunay.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "geometry/curve.hpp"
#include "geometry/predicates.hpp"

namespace mesh2d {
namespace {

/// Rounds of doubling size, in each of which neighbours in the order are neighbours in the plane.
std::vector<std::uint32_t> insertion_order(const std::vector<point>& points, const box& all) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(points.size());  // place on the curve, point
  for (std::uint32_t k = 0; k < points.size(); ++k) order[k] = {place_on_curve(all, points[k]), k};
  std::mt19937 random(1);  // its numbers are the same everywhere, unlike those of std::shuffle
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
  for (std::size_t begin = 0, size = 64; begin < order.size(); begin += size, size *= 2) {
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
              order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), begin + size)));
  }
  std::vector<std::uint32_t> result;
  for (const auto& [place, k] : order) result.push_back(k);
  return result;
}

void add_box(triangulation& mesh, const box& all) {
  const double extent = std::max(all.high.x - all.low.x, all.high.y - all.low.y);
  const double margin = 16 * std::max({extent, 1e-6 * std::abs(all.low.x), 1e-6 * std::abs(all.low.y), 1e-6});
  const index a = mesh.add_vertex({all.low.x - margin, all.low.y - margin});
  const index b = mesh.add_vertex({all.high.x + margin, all.low.y - margin});
  const index c = mesh.add_vertex({all.high.x + margin, all.high.y + margin});
  const index d = mesh.add_vertex({all.low.x - margin, all.high.y + margin});
  const index t = mesh.add_triangle(a, b, c, 0), u = mesh.add_triangle(a, c, d, 0);
  mesh.join(side_of(t, 1), side_of(u, 2));
}

/// Puts the vertex `v` into the triangulation; returns the vertex at its place if there is one already.
index insert(triangulation& mesh, index v, index& last) {
  const point point = mesh.at(v);
  const index t = find_triangle(mesh, point, last);
  last = t;
  for (const index other : mesh.triangles[t].corner) {
    if (mesh.at(other) == point) return other;
  }
  for (unsigned k = 0; k < 3; ++k) {
    const side s = side_of(t, k);
    if (orient(mesh.at(mesh.origin(s)), mesh.at(mesh.target(s)), point) != 0) continue;
    mesh.split_side(s, v);
    mesh.legalise_around(v);
    return v;
  }
  mesh.split_triangle(t, v);
  mesh.legalise_around(v);
  return v;
}

}  // namespace

index find_triangle(const triangulation& mesh, const point& point, index source) noexcept {
  index t = source;
  for (;;) {
    side across = none;
    for (unsigned k = 0; k < 3 && across == none; ++k) {
      const side s = side_of(t, k);
      if (orient(mesh.at(mesh.origin(s)), mesh.at(mesh.target(s)), point) < 0) across = mesh.twin(s);
    }
    if (across == none) return t;
    t = triangle_of(across);
  }
}

boxed_triangulation triangulate(const std::vector<point>& points) {
  boxed_triangulation result;
  const box all = bounds_of(points);
  for (const point& each : points) result.mesh.add_vertex(each);
  result.mesh.triangles.reserve(2 * points.size() + 8);
  add_box(result.mesh, all);
  result.vertex_of_point.resize(points.size());
  index last = 0;
  for (const std::uint32_t k : insertion_order(points, all)) {
    result.vertex_of_point[k] = insert(result.mesh, k, last);
  }
  return result;
}

}  // namespace mesh2d
