// SPDX-License-Identifier: Apache-2.0
// Places a description on a grid.
#include "setup/description.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace waves {
namespace {

int points_along(double length, double h) { return static_cast<int>(std::lround(length / h)) + 1; }

receiver placed(const named_place& asked, const grid& at) {
  const auto nearest = [&](std::size_t axis) {
    return static_cast<int>(std::lround((asked.where[axis] - at.origin[axis]) / at.h));
  };
  return {asked.name, asked.where, nearest(0), nearest(1), nearest(2)};
}

}  // namespace

problem make_problem(const description& asked, const row_kernels& kernels) {
  problem made;
  const int layers = asked.layers, top = asked.top == top_side::free_surface ? 0 : layers;
  const auto axis_of = [&](double length, int begin) {
    return axis(points_along(length, asked.h) + begin + layers, begin, layers);
  };
  made.grid.h = asked.h;
  made.grid.top = asked.top;
  made.grid.x = axis_of(asked.size[0], layers);
  made.grid.y = axis_of(asked.size[1], layers);
  made.grid.z = axis_of(asked.size[2], top);
  made.grid.origin = {-layers * asked.h, -layers * asked.h, -top * asked.h};
  made.material = asked.material;
  made.material.h = asked.h;
  const double longest = asked.step * asked.h / std::sqrt(made.material.greatest_speed_squared());
  made.steps = std::max(1, static_cast<int>(std::ceil(asked.time / longest * (1 - 1e-12))));
  made.grid.dt = asked.time / made.steps;
  for (const point_source& each : asked.sources) made.sources.push_back({each.time, points_of(each, made.grid)});
  for (const named_place& each : asked.receivers) made.receivers.push_back(placed(each, made.grid));
  made.exact = asked.exact;
  made.initial = asked.initial;
  made.kernels = &kernels;
  return made;
}

}  // namespace waves
