// SPDX-License-Identifier: Apache-2.0
// Interpolates.
#include "size/raster_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace mesh2d {
namespace {

/// The two nearest cells of one axis, and how far the place is from the first to the second.
struct between_cells {
  std::size_t first, second;
  double part;
};

between_cells cells_at(double place, double begin, double step, std::uint32_t count) {
  const double steps = std::clamp((place - begin) / step, 0.0, static_cast<double>(count - 1));
  const auto first = static_cast<std::size_t>(steps);
  return {first, std::min<std::size_t>(first + 1, count - 1), steps - static_cast<double>(first)};
}

}  // namespace

raster_field::raster_field(raster_grid&& grid) : grid_(std::move(grid)) {}

double raster_field::length(const point& point) const noexcept {
  const between_cells x = cells_at(point.x, grid_.west, grid_.step_x, grid_.columns);
  const between_cells y = cells_at(point.y, grid_.south, grid_.step_y, grid_.rows);
  const std::array<std::pair<std::size_t, double>, 2> columns{{{x.first, 1 - x.part}, {x.second, x.part}}};
  const std::array<std::pair<std::size_t, double>, 2> rows{{{y.first, 1 - y.part}, {y.second, y.part}}};
  double sum = 0, weights = 0;
  for (const auto& [row, of_row] : rows) {
    for (const auto& [column, of_column] : columns) {
      const double value = grid_.lengths[row * grid_.columns + column], weight = of_row * of_column;
      if (std::isnan(value)) continue;
      sum += weight * value;
      weights += weight;
    }
  }
  return weights > 0 ? sum / weights : std::numeric_limits<double>::infinity();
}

}  // namespace mesh2d
