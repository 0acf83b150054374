// SPDX-License-Identifier: Apache-2.0
// An exact solution on a patch: what is outside of the grid, body forces, tractions, and errors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "operator_sweep.hpp"
#include "patch_material.hpp"
#include "problem.hpp"

namespace waves {

/// The displacement, or its second derivative in time, which the acceleration comes close to.
enum class exchanged : std::uint8_t { displacement, acceleration };

class exact_data {
 public:
  exact_data(const problem& problem, const patch_box& box);

  /// Sets all points, halos as well.
  void set_all(rows& field, double t) const;
  /// Sets the points outside of the grid.
  void set_outside(rows& field, double t, exchanged exchanged) const;
  /// Adds factor * force / rho, where forces act.
  void add_force(rows& field, const patch_material& material, double t, double factor, exchanged exchanged) const;
  /// Tractions times h on the plane 0; null where none act.
  [[nodiscard]] const rows* traction(double t, exchanged exchanged);
  /// The squared error and the squared solution, each summed over the points of a row, by z, then y.
  [[nodiscard]] std::vector<std::array<double, 2>> row_errors(const rows& u, double t) const;

 private:
  /// The factors of both parts at a time.
  [[nodiscard]] std::array<double, 2> factors(double t, exchanged exchanged) const;
  [[nodiscard]] bool is_outside(int y, int z) const noexcept;
  void set_points(rows& field, std::array<double, 2> f, int y, int z, int begin, int end) const;

  const problem& problem_;
  patch_box box_;
  std::array<rows, 2> displacement_, force_, tractions_;  // factors of cos and sin
  rows traction_;
};

}  // namespace waves
