// SPDX-License-Identifier: Apache-2.0
// Spheres by subdivision, tubes around curves, a block.
#include "surface/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mesh3d {
namespace {

point normalized(const point& p) { return p * (1 / std::sqrt(squared_length(p))); }

/// An octahedron whose triangles are cut in four, so often, and brought onto the sphere.
surface_mesh make_sphere(unsigned rounds) {
  surface_mesh mesh;
  mesh.points = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (unsigned round = 0; round < rounds; ++round) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [entry, fresh] =
          middles.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<std::uint32_t>(mesh.points.size()));
      if (fresh) mesh.points.push_back(normalized(mesh.points[a] + mesh.points[b]));
      return entry->second;
    };
    std::vector<surface_mesh::triangle> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      for (const surface_mesh::triangle& each :
           {surface_mesh::triangle{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}}) {
        finer.push_back(each);
      }
    }
    mesh.triangles = std::move(finer);
  }
  return mesh;
}

/// A tube around a closed curve through `centre(t)` for t from 0 to 2 pi.
template <class Centre>
surface_mesh make_tube(Centre centre, double radius, std::uint32_t along, std::uint32_t neighbourhood) {
  surface_mesh mesh;
  for (std::uint32_t i = 0; i < along; ++i) {
    const double t = 2 * std::numbers::pi * i / along, step = 1e-4;
    const point position = centre(t), tangent = normalized(centre(t + step) - centre(t - step));
    const point aside = normalized(cross({0, 0, 1}, tangent)), upwards = cross(tangent, aside);
    for (std::uint32_t j = 0; j < neighbourhood; ++j) {
      const double u = 2 * std::numbers::pi * j / neighbourhood;
      mesh.points.push_back(position + aside * (radius * std::cos(u)) + upwards * (radius * std::sin(u)));
    }
  }
  for (std::uint32_t i = 0; i < along; ++i) {
    for (std::uint32_t j = 0; j < neighbourhood; ++j) {
      const std::uint32_t next_i = (i + 1) % along, next_j = (j + 1) % neighbourhood;
      const std::uint32_t a = i * neighbourhood + j, b = next_i * neighbourhood + j,
                          c = next_i * neighbourhood + next_j, d = i * neighbourhood + next_j;
      mesh.triangles.push_back({a, c, b});
      mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

surface_mesh transformed(surface_mesh mesh, const point& factor, const point& shift) {
  for (point& p : mesh.points) p = point{p.x * factor.x, p.y * factor.y, p.z * factor.z} + shift;
  return mesh;
}

surface_mesh together(surface_mesh a, const surface_mesh& b) {
  const auto first = static_cast<std::uint32_t>(a.points.size());
  a.points.insert(a.points.end(), b.points.begin(), b.points.end());
  for (const auto& corner : b.triangles) {
    a.triangles.push_back({corner[0] + first, corner[1] + first, corner[2] + first});
  }
  return a;
}

surface_mesh make_block() {
  surface_mesh mesh;
  for (unsigned k = 0; k < 8; ++k) {
    mesh.points.push_back({1.0 * (k & 1), 0.8 * (k >> 1 & 1), 0.6 * (k >> 2 & 1)});
  }
  for (const auto& [a, b, c, d] : {std::array<std::uint32_t, 4>{0, 2, 3, 1},
                                   {4, 5, 7, 6},
                                   {0, 1, 5, 4},
                                   {2, 6, 7, 3},
                                   {0, 4, 6, 2},
                                   {1, 3, 7, 5}}) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
  }
  return mesh;
}

}  // namespace

std::optional<surface_mesh> make_shape(const std::string& name) {
  constexpr unsigned rounds = 6;
  const point none{0, 0, 0};
  if (name == "sphere") return make_sphere(rounds);
  if (name == "ellipsoid") return transformed(make_sphere(rounds), {1, 0.6, 0.35}, none);
  if (name == "torus") {
    return make_tube([](double t) { return point{std::cos(t), std::sin(t), 0}; }, 0.4, 240, 96);
  }
  if (name == "knot") {  // a trefoil
    const auto centre = [](double t) {
      return point{std::sin(t) + 2 * std::sin(2 * t), std::cos(t) - 2 * std::cos(2 * t), -1.4 * std::sin(3 * t)};
    };
    return make_tube(centre, 0.5, 600, 40);
  }
  if (name == "shell") return together(make_sphere(rounds), transformed(make_sphere(5), {0.5, 0.5, 0.5}, none));
  if (name == "spheres") {
    return together(make_sphere(rounds), transformed(make_sphere(5), {0.5, 0.5, 0.5}, {1.8, 0.3, 0.2}));
  }
  if (name == "block") return make_block();
  return std::nullopt;
}

}  // namespace mesh3d
