// SPDX-License-Identifier: Apache-2.0
// Shapes that need no file.
#include "input/shapes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

namespace mesh2d {
namespace {

void add_outline(pslg& pslg, const std::vector<point>& corners) {
  const auto first = static_cast<std::uint32_t>(pslg.points.size()), count = static_cast<std::uint32_t>(corners.size());
  for (std::uint32_t k = 0; k < count; ++k) {
    pslg.points.push_back({.position = corners[k], .name = static_cast<std::int64_t>(pslg.points.size()) + 1});
    pslg.segments.push_back({.begin = first + k,
                             .end = first + (k + 1) % count,
                             .name = static_cast<std::int64_t>(pslg.segments.size()) + 1});
  }
}

std::vector<point> circle(point centre, double radius, int corners) {
  std::vector<point> all;
  for (int k = 0; k < corners; ++k) {
    const double angle = 2 * std::numbers::pi * k / corners;
    all.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return all;
}

void add_hole(pslg& pslg, point inside) {
  pslg.holes.push_back({.position = inside, .name = static_cast<std::int64_t>(pslg.holes.size()) + 1});
}

/// A pipe cut across: a thick wall with eight bores in it.
pslg pipe() {
  pslg shape;
  add_outline(shape, circle({0, 0}, 1, 96));
  add_outline(shape, circle({0, 0}, 0.5, 64));
  add_hole(shape, {0, 0});
  for (const point& centre : circle({0, 0}, 0.75, 8)) {
    add_outline(shape, circle(centre, 0.09, 24));
    add_hole(shape, centre);
  }
  return shape;
}

pslg square() {
  pslg shape;
  add_outline(shape, {{0, 0}, {1, 0}, {1, 1}, {0, 1}});
  return shape;
}

/// A key: a round bow with a hole, a shaft, and a bit with notches.
pslg key() {
  pslg shape;
  std::vector<point> outline;
  for (int k = 0; k <= 40; ++k) {
    const double angle = 0.2 + (2 * std::numbers::pi - 0.4) * k / 40;
    outline.push_back({std::cos(angle), std::sin(angle)});
  }
  const double low = outline.back().y, high = outline.front().y;
  for (const point& corner : {point{3.0, low},
                              {3.0, -0.8},
                              {3.3, -0.8},
                              {3.3, -0.5},
                              {3.5, -0.5},
                              {3.5, -0.9},
                              {3.9, -0.9},
                              {3.9, -0.45},
                              {4.1, -0.45},
                              {4.1, -0.7},
                              {4.4, -0.7},
                              {4.4, high}}) {
    outline.push_back(corner);
  }
  add_outline(shape, outline);
  add_outline(shape, circle({-0.3, 0}, 0.35, 28));
  add_hole(shape, {-0.3, 0});
  return shape;
}

/// A comb: a back with 20 teeth that become thinner.
pslg comb() {
  pslg shape;
  constexpr int teeth = 20;
  std::vector<point> outline{{0, 2}};
  for (int k = 0; k < teeth; ++k) {
    const double left = 0.5 * k, width = 0.4 - 0.015 * k;
    outline.push_back({left, k == 0 ? 0 : 1.5});
    if (k > 0) outline.push_back({left, 0});
    outline.push_back({left + width, 0});
    outline.push_back({left + width, 1.5});
  }
  outline.push_back({0.5 * teeth, 1.5});
  outline.push_back({0.5 * teeth, 2});
  add_outline(shape, outline);
  return shape;
}

/// A star-shaped polygon with a ragged outline and holes.
pslg random_polygon(std::uint64_t seed) {
  pslg shape;
  nacre::rng random(seed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  const int corners = 9 + static_cast<int>(random.below(60));
  std::vector<point> outline;
  for (int k = 0; k < corners; ++k) {
    const double angle = 2 * std::numbers::pi * (k + uniform(-0.3, 0.3)) / corners, radius = uniform(0.5, 1);
    outline.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  add_outline(shape, outline);
  const int holes = static_cast<int>(random.below(5));
  const double turn = uniform(0, 2 * std::numbers::pi);
  for (int k = 0; k < holes; ++k) {
    const double angle = turn + 2 * std::numbers::pi * k / holes, radius = uniform(0.02, 0.1);
    const point centre{0.22 * std::cos(angle), 0.22 * std::sin(angle)};
    add_outline(shape, circle(centre, radius, 3 + static_cast<int>(random.below(12))));
    add_hole(shape, centre);
  }
  return shape;
}

}  // namespace

const std::vector<std::string>& shape_names() {
  static const std::vector<std::string> names{"pipe", "square", "key", "comb", "random"};
  return names;
}

pslg make_shape(const std::string& name, std::uint64_t seed) {
  pslg shape;
  if (name == "pipe") shape = pipe();
  if (name == "square") shape = square();
  if (name == "key") shape = key();
  if (name == "comb") shape = comb();
  if (name == "random") shape = random_polygon(seed);
  if (shape.points.empty()) {
    throw nacre::setup_error({fmt::format("there is no shape '{}'", name),
                              "a shape is pipe, square, key, comb or random",
                              "name one of them; norway, greece or world; or a file that ends in .poly or .nc"});
  }
  shape.source = name;
  return shape;
}

std::string place_of(const pslg& input, std::uint32_t line) {
  return line == 0 ? input.source + ": " : fmt::format("{}:{}: ", input.source, line);
}

}  // namespace mesh2d
