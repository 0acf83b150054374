// SPDX-License-Identifier: Apache-2.0
// Small random surfaces for tests, each of which can be meshed: no edge is sharper than 90 degrees, no part is thin.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

#include <nacre/rng.hpp>

#include "surface/polycube.hpp"
#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// Makes one surface for each seed. Bodies with edges are nearly as thick as long, since edges are cut off; others are
/// round, and at least a fifth as thick.
class sound_surface {
 public:
  static surface_mesh make(std::uint64_t seed) { return sound_surface(seed).made(); }

 private:
  explicit sound_surface(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_.below(bound)); }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(mesh_.points.size()); }

  /// The triangles of a grid whose rows are closed.
  void add_rows(std::uint32_t first, std::uint32_t rows, std::uint32_t neighbourhood, bool is_ring) {
    for (std::uint32_t row = 0; row + (is_ring ? 0 : 1) < rows; ++row) {
      for (std::uint32_t k = 0; k < neighbourhood; ++k) {
        const std::uint32_t local_count = first + row * neighbourhood, next = first + (row + 1) % rows * neighbourhood,
                            l = (k + 1) % neighbourhood;
        mesh_.triangles.push_back({local_count + k, local_count + l, next + k});
        mesh_.triangles.push_back({local_count + l, next + l, next + k});
      }
    }
  }

  /// Of bands of latitude, which turn by no more than 30 degrees.
  void ball(const point& centre, const point& radii) {
    const std::uint32_t neighbourhood = 12 + below(8), bands = 7 + below(6);
    const auto add = [&](double height, double ring, double turn) {
      mesh_.points.push_back(centre +
                             point{radii.x * ring * std::cos(turn), radii.y * ring * std::sin(turn), radii.z * height});
    };
    const std::uint32_t first = count();
    for (std::uint32_t band = 1; band <= bands; ++band) {
      const double rise = std::numbers::pi * (1.0 * band / (bands + 1) - 0.5);
      for (std::uint32_t k = 0; k < neighbourhood; ++k) {
        add(std::sin(rise), std::cos(rise), 2 * std::numbers::pi * k / neighbourhood);
      }
    }
    add_rows(first, bands, neighbourhood, false);
    const std::uint32_t south = count(), north = south + 1, top = first + (bands - 1) * neighbourhood;
    add(-1, 0, 0);
    add(1, 0, 0);
    for (std::uint32_t k = 0; k < neighbourhood; ++k) {
      mesh_.triangles.push_back({south, first + (k + 1) % neighbourhood, first + k});
      mesh_.triangles.push_back({north, top + k, top + (k + 1) % neighbourhood});
    }
  }

  void ring() {
    const std::uint32_t along = 16 + below(16), neighbourhood = 12 + below(8);
    const double tube = between(0.4, 0.6);
    for (std::uint32_t row = 0; row < along; ++row) {
      for (std::uint32_t k = 0; k < neighbourhood; ++k) {
        const double t = 2 * std::numbers::pi * row / along, u = 2 * std::numbers::pi * k / neighbourhood;
        const double out = 1 + tube * std::cos(u);
        mesh_.points.push_back({out * std::cos(t), out * std::sin(t), tube * std::sin(u)});
      }
    }
    add_rows(0, along, neighbourhood, true);
  }

  void body() {
    switch (below(5)) {
      case 0: {
        mesh_ = polycube({"#"});
        const point sides{between(0.8, 1), between(0.8, 1), 1};
        for (point& p : mesh_.points) p = {p.x * sides.x, p.y * sides.y, p.z * sides.z};
        return;
      }
      case 1:
        return ring();
      case 2: {  // one within the other
        const double inner = between(0.4, 0.5);
        ball({}, {1, 1, 1});
        return ball({}, {inner, inner, inner});
      }
      case 3: {  // side by side
        const double other = between(0.6, 1);
        ball({}, {1, 1, 1});
        return ball({1.3 + other, 0, 0}, {other, other, other});
      }
      default:
        return ball({}, {between(0.6, 1), between(0.6, 1), 1});
    }
  }

  /// Turns, scales and moves the whole.
  surface_mesh made() {
    body();
    const double turn = between(0, 7), tilt = between(0, 7), scale = std::pow(10, between(-3, 3));
    const point shift = point{between(-1, 1), between(-1, 1), between(-1, 1)} * (10 * scale);
    for (point& p : mesh_.points) {
      p = {p.x * std::cos(turn) - p.y * std::sin(turn), p.x * std::sin(turn) + p.y * std::cos(turn), p.z};
      p = {p.x, p.y * std::cos(tilt) - p.z * std::sin(tilt), p.y * std::sin(tilt) + p.z * std::cos(tilt)};
      p = p * scale + shift;
    }
    return std::move(mesh_);
  }

  nacre::rng random_;
  surface_mesh mesh_{};
};

}  // namespace mesh3d
