// SPDX-License-Identifier: Apache-2.0
// How the grid is cut into patches, along y and z.
#pragma once

#include "grid.hpp"
#include "rows.hpp"

namespace waves {

/// A patch along z has at least so many planes: all that the rows next to the surface read.
inline constexpr int patch_side_min = 8;

class cut {
 public:
  cut() = default;
  /// `y` times `z` patches, equal up to a row. Fewer where they would have less than patch_side_min rows or planes.
  cut(const grid& grid, int y, int z);
  [[nodiscard]] int y() const noexcept { return y_; }
  [[nodiscard]] int z() const noexcept { return z_; }
  [[nodiscard]] int patches() const noexcept { return y_ * z_; }
  [[nodiscard]] bool contains(int at_y, int at_z) const noexcept {
    return at_y >= 0 && at_y < y_ && at_z >= 0 && at_z < z_;
  }
  [[nodiscard]] patch_box box(int at_y, int at_z) const noexcept;

 private:
  int nx_ = 0, ny_ = 0, nz_ = 0, y_ = 1, z_ = 1;
};

/// A cut into about `patches` patches of nearly square cross-sections.
[[nodiscard]] cut cut_into(const grid& grid, int patches);

}  // namespace waves
