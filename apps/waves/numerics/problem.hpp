// SPDX-License-Identifier: Apache-2.0
// What is computed: the same on all ranks, for any cut into patches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grid.hpp"
#include "harmonic_motion.hpp"
#include "model.hpp"
#include "point_source.hpp"
#include "row_kernels.hpp"

namespace waves {

/// A place whose displacement is recorded at first and after each step.
struct receiver {
  std::string name;
  position place{};
  std::array<interpolation, 3> points{};  ///< along x, y, z

  /// Rows of the grid that its displacement is a sum of, by z, then y.
  [[nodiscard]] int rows() const noexcept { return points[1].count * points[2].count; }
  [[nodiscard]] int y_of(int row) const noexcept { return points[1].first + row % points[1].count; }
  [[nodiscard]] int z_of(int row) const noexcept { return points[2].first + row / points[1].count; }
  [[nodiscard]] bool has_rows_in(const patch_box& box) const noexcept {
    const interpolation &y = points[1], &z = points[2];
    return y.first < box.y + box.ny && y.first + y.count > box.y && z.first < box.z + box.nz &&
           z.first + z.count > box.z;
  }
};

/// A source and its grid points.
struct placed_source {
  time_function time;
  std::vector<source_point> points;
  position place{};
};

/// The displacement at first, where no exact solution says it.
struct initial_state {
  bool random = false;  ///< independent numbers from -1 to 1 at each point, as at rest
  std::uint64_t seed = 1;
};

struct problem {
  std::string name;
  waves::grid grid;
  model material;
  std::vector<placed_source> sources;
  std::vector<receiver> receivers;
  std::shared_ptr<const harmonic_motion> exact;  ///< null: zero outside of the grid, and at first
  initial_state initial;
  int steps = 0;
  const row_kernels* kernels = &best_kernels();

  [[nodiscard]] position place_of(int x, int y, int z) const {
    return {grid.origin[0] + x * grid.h, grid.origin[1] + y * grid.h, grid.origin[2] + z * grid.h};
  }
};

}  // namespace waves
