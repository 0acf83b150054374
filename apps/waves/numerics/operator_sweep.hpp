// SPDX-License-Identifier: Apache-2.0
// Computes L f for all rows of a patch, each of which is handed on as soon as it is ready.
#pragma once

#include <vector>

#include "grid.hpp"
#include "patch_material.hpp"
#include "row_kernels.hpp"
#include "scratch.hpp"

namespace waves {

/// The factors of derivatives along x, with room for loads of whole vectors at both ends.
class line_factors {
 public:
  line_factors() = default;
  explicit line_factors(const axis& x);
  [[nodiscard]] const double* stretch() const noexcept { return stretch_.data() + pad; }
  [[nodiscard]] const double* slope() const noexcept { return slope_.data() + pad; }
  /// The profile of damping, 0 outside of the grid, and the taper.
  [[nodiscard]] const double* profile() const noexcept { return profile_.data() + pad; }
  [[nodiscard]] const double* taper() const noexcept { return taper_.data() + pad; }
  [[nodiscard]] int plain_begin() const noexcept { return plain_begin_; }
  [[nodiscard]] int plain_end() const noexcept { return plain_end_; }

 private:
  static constexpr int pad = 2 * lanes_max;
  std::vector<double> stretch_, slope_, profile_, taper_;
  int plain_begin_ = 0, plain_end_ = 0;
};

/// What a sweep needs to know of its patch.
struct sweep_domain {
  const waves::grid* grid = nullptr;
  patch_box box;
  const patch_material* material = nullptr;
  const line_factors* factors = nullptr;
  const row_kernels* kernels = nullptr;
  bool sides_move = false;  ///< points outside of the grid are not at rest

  [[nodiscard]] bool has_surface() const noexcept { return box.z == 0 && grid->top == top_side::free_surface; }
  [[nodiscard]] row_task task(const rows& field, int y, int z) const;
};

/// Sets the points above the surface. `traction`, times h, may be null; its plane 0 counts.
void set_ghost_points(const sweep_domain& domain, rows& field, const rows* traction);

/// A call for each row, in any order.
class row_consumer {
 public:
  virtual ~row_consumer() = default;
  /// `sum` is L f h^2.
  virtual void take(int y, int z, triple sum) = 0;
};
void sweep(const sweep_domain& domain, const rows& field, scratch& room, row_consumer& consumer);

}  // namespace waves
