// SPDX-License-Identifier: Apache-2.0
// Counts by sorting; components by a forest of points.
#include "surface/euler_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace mesh3d {
namespace {

using edge = std::array<std::uint32_t, 2>;

/// Both ends of each edge, the lesser one first, once for each triangle; sorted.
std::vector<edge> sides_of(const surface_mesh& mesh) {
  std::vector<edge> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (const auto& [a, b, c] : mesh.triangles) {
    for (const auto& [v, w] : {edge{a, b}, edge{b, c}, edge{c, a}}) sides.push_back({std::min(v, w), std::max(v, w)});
  }
  std::sort(sides.begin(), sides.end());
  return sides;
}

/// Sets of points, each named by one of them.
class point_sets {
 public:
  explicit point_sets(std::size_t points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::uint32_t v, std::uint32_t w) { parent_[find(v)] = find(w); }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

surface_counts count_surface(const surface_mesh& mesh) {
  point_sets sets(mesh.points.size());
  for (const auto& [a, b, c] : mesh.triangles) {
    sets.join(a, b);
    sets.join(b, c);
  }
  std::vector<std::int64_t> sums(mesh.points.size());  // by the name of a component
  std::vector<bool> is_used(mesh.points.size());
  for (const auto& corners : mesh.triangles) {
    ++sums[sets.find(corners[0])];
    for (const std::uint32_t v : corners) is_used[v] = true;
  }
  surface_counts counts;
  const std::vector<edge> sides = sides_of(mesh);
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end] == sides[begin]) ++end;
    --sums[sets.find(sides[begin][0])];
    if (end - begin == 2) continue;
    ++counts.edges_not_of_two;
    counts.place = (mesh.points[sides[begin][0]] + mesh.points[sides[begin][1]]) * 0.5;
  }
  for (std::uint32_t v = 0; v < mesh.points.size(); ++v) {
    if (is_used[v]) ++sums[sets.find(v)];
  }
  for (std::uint32_t v = 0; v < mesh.points.size(); ++v) {
    if (is_used[v] && sets.find(v) == v) counts.euler_numbers.push_back(sums[v]);
  }
  std::sort(counts.euler_numbers.begin(), counts.euler_numbers.end());
  return counts;
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t shown_max = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(numbers.size(), shown_max); ++k) {
    text += (k > 0 ? ", " : "") + std::to_string(numbers[k]);
  }
  return numbers.size() > shown_max ? text + fmt::format(", and {} more", numbers.size() - shown_max) : text;
}

surface_mesh share_points(std::vector<std::array<point, 3>> triangles) {
  std::sort(triangles.begin(), triangles.end());
  surface_mesh mesh;
  for (const auto& corners : triangles) mesh.points.insert(mesh.points.end(), corners.begin(), corners.end());
  std::sort(mesh.points.begin(), mesh.points.end());
  mesh.points.erase(std::unique(mesh.points.begin(), mesh.points.end()), mesh.points.end());
  for (const auto& corners : triangles) {
    surface_mesh::triangle numbers{};
    for (unsigned k = 0; k < 3; ++k) {
      const auto place = std::lower_bound(mesh.points.begin(), mesh.points.end(), corners[k]);
      numbers[k] = static_cast<std::uint32_t>(place - mesh.points.begin());
    }
    mesh.triangles.push_back(numbers);
  }
  return mesh;
}

}  // namespace mesh3d
