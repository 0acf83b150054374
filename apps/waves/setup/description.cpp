// SPDX-License-Identifier: Apache-2.0
// Places a description on a grid.
#include "setup/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <nacre/error.hpp>

#include "numerics/speed_bound.hpp"

namespace waves {
namespace {

int points_along(double length, double h) { return static_cast<int>(std::lround(length / h)) + 1; }

receiver placed(const named_place& asked, const grid& grid) {
  const auto along = [&](std::size_t axis, int points) {
    return interpolation_at(asked.place[axis], grid.origin[axis], grid.h, points);
  };
  return {asked.name, asked.place, {along(0, grid.x.count()), along(1, grid.y.count()), along(2, grid.z.count())}};
}

/// Refuses the last source when it has points outside of the grid, where no force acts: what is left would be another
/// source. Under a free surface sources have other points, all of them inside.
void demand_whole_source(const std::vector<placed_source>& sources, const grid& grid) {
  const auto strength = [](const source_point& point) {
    return std::abs(point.force[0]) + std::abs(point.force[1]) + std::abs(point.force[2]);
  };
  double most = 0;
  for (const source_point& each : sources.back().points) most = std::max(most, strength(each));
  constexpr double rounding = 1e-9;  // of a source on a plane of the grid: the points beside it should have none
  for (const source_point& each : sources.back().points) {
    if (strength(each) <= rounding * most) continue;
    if (each.x >= 0 && each.x < grid.x.count() && each.y >= 0 && each.y < grid.y.count() && each.z >= 0 &&
        each.z < grid.z.count()) {
      continue;
    }
    throw nacre::setup_error({fmt::format("source {} is too near to a side of the grid", sources.size()),
                              "a source acts on the six points around it along each axis, and some would lie outside",
                              fmt::format("move it {:.6g} m inside, or surround the box with layers", 3 * grid.h)});
  }
}

}  // namespace

problem make_problem(const description& asked, const row_kernels& kernels) {
  problem result;
  result.name = asked.name;
  const int layers = asked.layers, top = asked.top == top_side::free_surface ? 0 : layers;
  const auto axis_of = [&](double length, int begin) {
    return axis(points_along(length, asked.h) + begin + layers, begin, layers);
  };
  result.grid.h = asked.h;
  result.grid.top = asked.top;
  result.grid.x = axis_of(asked.size[0], layers);
  result.grid.y = axis_of(asked.size[1], layers);
  result.grid.z = axis_of(asked.size[2], top);
  result.grid.origin = {-layers * asked.h, -layers * asked.h, -top * asked.h};
  result.material = asked.material;
  result.material.h = asked.h;
  const double longest = asked.step * asked.h / std::sqrt(greatest_speed_squared(result.material, asked.top));
  const double steps = std::ceil(asked.time / longest * (1 - 1e-12));
  constexpr double steps_max = 1e9;
  if (steps > steps_max) {
    throw nacre::setup_error({fmt::format("{} s take {:.3g} steps of {:.3g} s", asked.time, steps, longest),
                              "at most 1e9 are computed", "choose a shorter --time or a larger --h"});
  }
  result.steps = std::max(1, static_cast<int>(steps));
  result.grid.dt = asked.time / result.steps;
  for (const point_source& each : asked.sources) {
    result.sources.push_back({each.time, points_of(each, result.grid), each.place});
    demand_whole_source(result.sources, result.grid);
  }
  for (const named_place& each : asked.receivers) result.receivers.push_back(placed(each, result.grid));
  result.exact = asked.exact;
  result.initial = asked.initial;
  result.kernels = &kernels;
  return result;
}

}  // namespace waves
