// SPDX-License-Identifier: Apache-2.0
// Small random surfaces for tests, most of them degenerate in some way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include <nacre/rng.hpp>

#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// Makes one surface for each seed.
class troubled_surface {
 public:
  static surface_mesh make(std::uint64_t seed) { return troubled_surface(seed).made(); }

 private:
  explicit troubled_surface(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_.below(bound)); }
  bool one_in(std::uint64_t count) { return random_.below(count) == 0; }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  /// A length that may be far smaller than others.
  double small() { return one_in(3) ? 0 : std::pow(10, between(-17, -1)); }
  point place() { return grid_ ? point{1.0 * below(7), 1.0 * below(7), 1.0 * below(7)} : vector(0, 6); }
  point vector(double low, double high) { return {between(low, high), between(low, high), between(low, high)}; }

  std::uint32_t add_point(const point& point) {
    mesh_.points.push_back(point);
    return static_cast<std::uint32_t>(mesh_.points.size() - 1);
  }
  void add_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) { mesh_.triangles.push_back({a, b, c}); }
  std::uint32_t any_point() { return below(mesh_.points.size()); }
  surface_mesh::triangle& any_triangle() { return mesh_.triangles[below(mesh_.triangles.size())]; }
  point& corner_of(const surface_mesh::triangle& triangle, std::uint32_t k) { return mesh_.points[triangle[k]]; }

  void box(const point& low, const point& size) {
    const auto first = static_cast<std::uint32_t>(mesh_.points.size());
    for (unsigned k = 0; k < 8; ++k) {
      add_point(low + point{size.x * (k & 1), size.y * (k >> 1 & 1), size.z * (k >> 2 & 1)});
    }
    constexpr std::array<std::array<std::uint32_t, 4>, 6> sides{
        {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
    for (const auto& [a, b, c, d] : sides) {
      add_triangle(first + a, first + b, first + c);
      add_triangle(first + a, first + c, first + d);
    }
  }

  /// A ball of bands of latitude, whose radius may differ from point to point.
  void ball(const point& centre, double radius, double roughness) {
    const std::uint32_t neighbourhood = 3 + below(6), bands = 1 + below(4);
    const auto first = static_cast<std::uint32_t>(mesh_.points.size());
    const auto add = [&](double height, double turn) {
      const double r = radius * (1 + roughness * between(-1, 1)), ring = std::sqrt(std::max(0.0, 1 - height * height));
      const point position = centre + point{r * ring * std::cos(turn), r * ring * std::sin(turn), r * height};
      add_point(grid_ ? point{std::round(position.x), std::round(position.y), std::round(position.z)} : position);
    };
    add(-1, 0);
    for (std::uint32_t band = 1; band <= bands; ++band) {
      for (std::uint32_t k = 0; k < neighbourhood; ++k)
        add(2.0 * band / (bands + 1) - 1, 2 * std::numbers::pi * k / neighbourhood);
    }
    add(1, 0);
    const auto number = [&](std::uint32_t band, std::uint32_t k) {
      return first + 1 + band * neighbourhood + k % neighbourhood;
    };
    const auto last = static_cast<std::uint32_t>(mesh_.points.size() - 1);
    for (std::uint32_t k = 0; k < neighbourhood; ++k) {
      add_triangle(first, number(0, k + 1), number(0, k));
      add_triangle(last, number(bands - 1, k), number(bands - 1, k + 1));
      for (std::uint32_t band = 0; band + 1 < bands; ++band) {
        add_triangle(number(band, k), number(band, k + 1), number(band + 1, k));
        add_triangle(number(band, k + 1), number(band + 1, k + 1), number(band + 1, k));
      }
    }
  }

  /// A ring with corners, whose tube may be so thick that it has no hole.
  void ring(const point& centre) {
    const std::uint32_t along = 3 + below(5), neighbourhood = 3 + below(3);
    const double radius = between(1, 2.5), tube = between(0.1, 1.2) * radius, twist = one_in(3) ? between(0, 7) : 0;
    const auto first = static_cast<std::uint32_t>(mesh_.points.size());
    for (std::uint32_t i = 0; i < along; ++i) {
      for (std::uint32_t j = 0; j < neighbourhood; ++j) {
        const double t = 2 * std::numbers::pi * i / along,
                     u = 2 * std::numbers::pi * j / neighbourhood + twist * i / along;
        const double out = radius + tube * std::cos(u);
        add_point(centre + point{out * std::cos(t), out * std::sin(t), tube * std::sin(u)});
      }
    }
    for (std::uint32_t i = 0; i < along; ++i) {
      for (std::uint32_t j = 0; j < neighbourhood; ++j) {
        const std::uint32_t a = first + i * neighbourhood + j, b = first + (i + 1) % along * neighbourhood + j,
                            c = first + (i + 1) % along * neighbourhood + (j + 1) % neighbourhood,
                            d = first + i * neighbourhood + (j + 1) % neighbourhood;
        add_triangle(a, b, c);
        add_triangle(a, c, d);
      }
    }
  }

  void body() {
    switch (below(6)) {
      case 0:
        return box({0, 0, 0}, {6, 6, one_in(4) ? small() : between(0.01, 6)});
      case 1:
        return ring({3, 3, 3});
      case 2: {  // a tetrahedron, which may be flat
        const std::uint32_t a = add_point(place()), b = add_point(place()), c = add_point(place());
        const point middle = (mesh_.points[a] + mesh_.points[b] + mesh_.points[c]) * (1.0 / 3);
        const std::uint32_t d = add_point(one_in(3) ? middle + point{0, 0, small()} : place());
        add_triangle(a, c, b);
        add_triangle(a, b, d);
        add_triangle(b, c, d);
        return add_triangle(c, a, d);
      }
      default:
        ball({3, 3, 3}, between(1.5, 3), one_in(2) ? 0 : between(0, 0.6));
    }
  }

  /// Puts a point into a triangle, or on the side that two triangles share, or beside these.
  void divide(bool side, double off) {
    const std::size_t t = below(mesh_.triangles.size());
    const auto [a, b, c] = mesh_.triangles[t];
    const point &p = mesh_.points[a], &q = mesh_.points[b], &r = mesh_.points[c];
    const double u = between(0.1, 0.8), v = side ? 1 - u : between(0, 1 - u);
    const point position = p * u + q * v + r * (1 - u - v) + point{0, 0, off};
    const std::uint32_t m = add_point(position);
    if (!side) {
      mesh_.triangles[t] = {a, b, m};
      add_triangle(b, c, m);
      return add_triangle(c, a, m);
    }
    const bool both = !one_in(4);  // otherwise only triangle t is split, which leaves a gap without area
    for (std::size_t k = mesh_.triangles.size(); k-- > 0;) {
      if (k != t && !both) continue;
      for (unsigned first = 0; first < 3; ++first) {
        const std::uint32_t source = mesh_.triangles[k][first], target = mesh_.triangles[k][(first + 1) % 3],
                            apex = mesh_.triangles[k][(first + 2) % 3];
        if (std::minmax(source, target) != std::minmax(a, b)) continue;
        mesh_.triangles[k] = {source, m, apex};
        add_triangle(m, target, apex);
        break;
      }
    }
  }

  void other_body() {
    const point position = place();
    if (one_in(3)) return ball({3, 3, 3}, between(0.1, 1.2), 0);  // within the first in most cases
    if (one_in(3)) return box(position, vector(0, 1));
    if (one_in(2)) return ball(position + point{10, 0, 0}, between(0.5, 2), 0);
    const std::size_t points = mesh_.points.size(), triangles = mesh_.triangles.size();
    const point shift = one_in(2) ? point{small(), 0, 0} : point{0, 0, 6};  // upon the first one, or beside it
    for (std::size_t k = 0; k < points; ++k) add_point(mesh_.points[k] + shift);
    for (std::size_t k = 0; k < triangles; ++k) {
      const auto [a, b, c] = mesh_.triangles[k];
      const auto more = static_cast<std::uint32_t>(points);
      add_triangle(a + more, b + more, c + more);
    }
  }

  void feature() {
    switch (below(13)) {
      case 0:  // a corner moves, and may go through the surface
        mesh_.points[any_point()] = place();
        break;
      case 1: {  // a spike
        point& position = mesh_.points[any_point()];
        position = position + (position - point{3, 3, 3}) * between(-0.5, 3);
        break;
      }
      case 2:  // two corners at one place
        mesh_.points[any_point()] = mesh_.points[any_point()];
        break;
      case 3: {  // a corner of its own for one triangle, at the same place
        auto& triangle = any_triangle();
        const std::uint32_t k = below(3);
        triangle[k] = add_point(mesh_.points[triangle[k]] + point{one_in(3) ? small() : 0, 0, 0});
        break;
      }
      case 4:
      case 5:
        divide(false, small());
        break;
      case 6:
        divide(true, one_in(2) ? 0 : small());
        break;
      case 7:
      case 8:
        other_body();
        break;
      case 9:
        if (one_in(2)) std::swap(any_triangle()[0], mesh_.triangles.back()[1]);
        std::swap(any_triangle()[0], any_triangle()[1]);
        break;
      case 10: {  // turned
        auto& triangle = any_triangle();
        std::swap(triangle[0], triangle[1]);
        break;
      }
      case 11:
        if (one_in(2)) {
          mesh_.triangles.erase(mesh_.triangles.begin() + below(mesh_.triangles.size()));
        } else {
          mesh_.triangles.push_back(any_triangle());
        }
        break;
      default:  // a fin
        add_triangle(any_point(), any_point(), add_point(place()));
    }
  }

  /// Flattens, scales and moves the whole.
  void spoil() {
    const double flat = one_in(6) ? std::pow(10, between(-14, 0)) : 1;
    const double scale = one_in(4) ? std::pow(10, between(-25, 25)) : 1, offset = one_in(6) ? scale * 1e7 : 0;
    for (point& p : mesh_.points) p = point{p.x, p.y, p.z * flat} * scale + point{offset, offset, offset};
    const double worst[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300,
                            1e-300};
    if (one_in(40)) mesh_.points[any_point()].x = worst[below(4)];
  }

  surface_mesh made() {
    grid_ = one_in(3);
    body();
    for (std::uint32_t count = below(4); count > 0; --count) feature();
    spoil();
    return std::move(mesh_);
  }

  nacre::rng random_;
  surface_mesh mesh_{};
  bool grid_ = false;
};

}  // namespace mesh3d
