// SPDX-License-Identifier: Apache-2.0
// Small random inputs for tests, most of them degenerate in some way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <nacre/rng.hpp>

#include "input/pslg.hpp"

namespace mesh2d {

/// Makes one input for each seed.
class troubled_input {
 public:
  static pslg make(std::uint64_t seed) { return troubled_input(seed).made(); }

 private:
  explicit troubled_input(std::uint64_t seed) : random_(seed) {}

  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_.below(bound)); }
  bool one_in(std::uint64_t count) { return random_.below(count) == 0; }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }

  point place() {
    if (grid_) return {static_cast<double>(below(7)), static_cast<double>(below(7))};
    return {between(0, 6), between(0, 6)};
  }
  std::uint32_t add_point(const point& point) {
    input_.points.push_back({.position = point, .name = static_cast<std::int64_t>(input_.points.size())});
    return static_cast<std::uint32_t>(input_.points.size() - 1);
  }
  void add_segment(std::uint32_t source, std::uint32_t target) {
    input_.segments.push_back(
        {.begin = source, .end = target, .name = static_cast<std::int64_t>(input_.segments.size())});
  }
  void add_outline(const std::vector<point>& corners) {
    const auto first = static_cast<std::uint32_t>(input_.points.size());
    for (const point& each : corners) add_point(each);
    for (std::uint32_t k = 0; k < corners.size(); ++k) {
      add_segment(first + k, first + (k + 1) % static_cast<std::uint32_t>(corners.size()));
    }
  }
  std::uint32_t any_point() { return below(input_.points.size()); }
  void add_hole(const point& point) {
    input_.holes.push_back({.position = point, .name = static_cast<std::int64_t>(input_.holes.size())});
  }

  void outline() {
    if (one_in(3)) return add_outline({{0, 0}, {6, 0}, {6, 6}, {0, 6}});
    std::vector<point> corners;
    const std::uint32_t count = 3 + below(9);
    for (std::uint32_t k = 0; k < count; ++k) {
      const double angle = 2 * std::numbers::pi * (k + between(-0.4, 0.4)) / count, radius = between(1.5, 3.5);
      const point position{3 + radius * std::cos(angle), 3 + radius * std::sin(angle)};
      corners.push_back(grid_ ? point{std::round(position.x), std::round(position.y)} : position);
    }
    add_outline(corners);
  }

  /// Segments from one corner that enclose angles of a degree or less.
  void fan() {
    const point apex = place();
    const std::uint32_t source = add_point(apex), count = 2 + below(3);
    double angle = between(0, 2 * std::numbers::pi);
    for (std::uint32_t k = 0; k < count; ++k) {
      const double length = between(0.3, 2);
      add_segment(source, add_point({apex.x + length * std::cos(angle), apex.y + length * std::sin(angle)}));
      angle += std::pow(10, between(-4, 0)) * std::numbers::pi / 180 * (one_in(4) ? 20 : 1);
    }
  }

  /// An outline of a hole that may be so thin that it has no area.
  void hole() {
    const point a = place(), b = place();
    const double width = one_in(2) ? 0 : between(0, 0.5);
    const point c{(a.x + b.x) / 2 + width, (a.y + b.y) / 2};
    add_outline({a, b, c});
    add_hole({(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3});
  }

  void region() {
    input_.regions.push_back(
        {.position = place(), .attribute = 1.0 + below(5), .name = static_cast<std::int64_t>(input_.regions.size())});
    if (one_in(2)) input_.regions.back().area_max = between(0.05, 1);
  }

  void feature() {
    switch (below(10)) {
      case 0:
        static_cast<void>(add_point(place()));
        break;
      case 1:
        static_cast<void>(add_point(input_.points[any_point()].position));
        break;
      case 2: {  // at or beside the middle of a segment
        const auto& s = input_.segments[below(input_.segments.size())];
        const point &a = input_.points[s.begin].position, &b = input_.points[s.end].position;
        const double off = one_in(2) ? 0 : std::pow(10, between(-16, -1));
        static_cast<void>(add_point({(a.x + b.x) / 2 + off, (a.y + b.y) / 2}));
        break;
      }
      case 3:
        add_segment(any_point(), any_point());
        break;
      case 4:
        fan();
        break;
      case 5:
        hole();
        break;
      case 6:
        region();
        break;
      case 7:
        add_segment(add_point(place()), add_point(place()));
        break;
      case 8:
        add_hole(place());
        break;
      default: {  // inside of the domain in most cases, so that it is not refused
        const point position = place();
        add_outline({{position.x, position.y},
                     {position.x + 0.3, position.y},
                     {position.x + 0.3, position.y + between(1e-6, 0.3)}});
      }
    }
  }

  void spoil() {
    const double worst[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e60,
                            1e-60};
    if (one_in(60)) input_.points[any_point()].position.x = worst[below(4)];
    const double scale = one_in(4) ? std::pow(10, between(-20, 20)) : 1, offset = one_in(6) ? scale * 1e9 : 0;
    const auto move = [&](point& point) { point = {point.x * scale + offset, point.y * scale + offset}; };
    for (auto& each : input_.points) move(each.position);
    for (auto& each : input_.holes) move(each.position);
    for (auto& each : input_.regions) {
      move(each.position);
      if (each.area_max) *each.area_max *= scale * scale;
    }
  }

  pslg made() {
    input_.source = "troubled";
    grid_ = one_in(2);
    outline();
    for (std::uint32_t count = below(6); count > 0; --count) feature();
    spoil();
    return std::move(input_);
  }

  nacre::rng random_;
  pslg input_;
  bool grid_ = false;
};

}  // namespace mesh2d
