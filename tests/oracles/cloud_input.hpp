// SPDX-License-Identifier: Apache-2.0
// Random points and segments in a box, most of them on a grid: collinear, cocircular, and some of them twice.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include <nacre/rng.hpp>

#include "geometry/predicates.hpp"
#include "input/pslg.hpp"

namespace mesh2d::tests {

/// Makes one input for each seed. Segments do not cross, but may overlap and pass points.
class cloud_input {
 public:
  static pslg make(std::uint64_t seed) { return cloud_input(seed).made(); }

 private:
  explicit cloud_input(std::uint64_t seed) : random_(seed) {}

  point place() {
    const point position{random_.uniform() * 12, random_.uniform() * 12};
    return on_grid_ || random_.below(4) == 0 ? point{std::floor(position.x), std::floor(position.y)} : position;
  }
  void add_segment(std::uint32_t source, std::uint32_t target) {
    input_.segments.push_back(
        {.begin = source, .end = target, .name = static_cast<std::int64_t>(input_.segments.size())});
  }
  void add_point(const point& point) {
    input_.points.push_back({.position = point, .name = static_cast<std::int64_t>(input_.points.size())});
  }
  [[nodiscard]] const point& at(std::uint32_t v) const { return input_.points[v].position; }

  static int turn(const point& a, const point& b, const point& c) {
    const double value = orient(a, b, c);
    return value > 0 ? 1 : value < 0 ? -1 : 0;
  }
  /// Whether a segment would cross another one, each within the other's ends.
  [[nodiscard]] bool crosses_any(std::uint32_t source, std::uint32_t target) const {
    for (const auto& other : input_.segments) {
      const point &a = at(source), &b = at(target), &c = at(other.begin), &d = at(other.end);
      if (turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0) return true;
    }
    return false;
  }

  pslg made() {
    input_.source = "cloud";
    on_grid_ = random_.below(2) == 0;
    for (const point& corner : {point{-1, -1}, {13, -1}, {13, 13}, {-1, 13}}) add_point(corner);
    for (std::uint32_t k = 0; k < 4; ++k) add_segment(k, (k + 1) % 4);
    const std::uint64_t count = 3 + random_.below(90);
    for (std::uint64_t k = 0; k < count; ++k) {
      add_point(random_.below(20) == 0 ? at(static_cast<std::uint32_t>(random_.below(input_.points.size()))) : place());
    }
    for (std::uint64_t tries = random_.below(60); tries > 0; --tries) {
      const auto source = static_cast<std::uint32_t>(random_.below(input_.points.size()));
      const auto target = static_cast<std::uint32_t>(random_.below(input_.points.size()));
      if (at(source) != at(target) && !crosses_any(source, target)) add_segment(source, target);
    }
    if (random_.below(2) == 0) input_.holes.push_back({.position = {random_.uniform() * 12, random_.uniform() * 12}});
    return std::move(input_);
  }

  nacre::rng random_;
  pslg input_;
  bool on_grid_ = false;
};

}  // namespace mesh2d::tests
