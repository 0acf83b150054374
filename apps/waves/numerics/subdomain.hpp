// SPDX-License-Identifier: Apache-2.0
// The state of a patch and its time step, without communication.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "exact_data.hpp"
#include "operator_sweep.hpp"
#include "patch_material.hpp"
#include "problem.hpp"

namespace waves {

/// Fields of a subdomain, to be written and read again.
struct subdomain_state {
  int step = 0;
  std::vector<double> u, previous, a;  ///< whole memories of `rows`; `a` may be empty
  std::vector<double> records;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(step, u, previous, a, records);
  }
};

/// What a subdomain records of a receiver: the sum over its rows, in their order, where all of them are inside, else
/// each row by itself, so that the sum has the same bits for any cut.
struct recorded_part {
  int receiver = 0;  ///< its number
  int first_row = 0, rows = 1;
};

/// A step is accelerate, an exchange of the acceleration, advance, an exchange of the displacement. It is the modified
/// equation: a = (L u + F)/rho, and u+ = 2u - u- + dt^2 a + dt^4/12 (L a + F_tt)/rho. A new subdomain has the initial
/// state, with halos.
class subdomain {
 public:
  subdomain(std::shared_ptr<const problem> subject, const patch_box& box);
  subdomain(const subdomain&) = delete;
  subdomain& operator=(const subdomain&) = delete;

  [[nodiscard]] const patch_box& box() const noexcept { return domain_.box; }
  [[nodiscard]] const problem& of() const noexcept { return *problem_; }
  [[nodiscard]] const sweep_domain& domain() const noexcept { return domain_; }
  [[nodiscard]] int step() const noexcept { return step_; }  ///< of the displacement
  [[nodiscard]] double time() const noexcept { return step_ * problem_->grid.dt; }

  /// Computes the acceleration. The displacement has its halos.
  void accelerate(scratch& room);
  /// Computes the displacement of the next step. The acceleration has its halos.
  void advance(scratch& room);

  [[nodiscard]] rows& acceleration() noexcept { return a_; }
  /// The memory of a step's displacement, which is that of the step two before. It does not change while a step is
  /// computed, so another thread may write halos there.
  [[nodiscard]] rows& displacement_of(int step) noexcept { return displacements_[static_cast<std::size_t>(step) % 2]; }
  [[nodiscard]] rows& displacement() noexcept { return displacement_of(step_); }
  [[nodiscard]] const rows& displacement() const noexcept {
    return displacements_[static_cast<std::size_t>(step_) % 2];
  }
  /// The displacement of the step before, whose memory takes that of the next step.
  [[nodiscard]] rows& previous() noexcept { return displacement_of(step_ + 1); }

  /// What is recorded of receivers, and its displacements, three numbers each, at first and after each step.
  [[nodiscard]] const std::vector<recorded_part>& recorded() const noexcept { return recorded_; }
  [[nodiscard]] const std::vector<double>& records() const noexcept { return records_; }

  /// With `wanted`, each `advance` sums rho H (u.u - u+.u-) h^3/dt^2 over the points of a row: what is kept when
  /// nothing damps and nothing drives.
  void measure_energy(bool wanted) noexcept { wants_energy_ = wanted; }
  [[nodiscard]] const std::vector<double>& row_energies() const noexcept { return energies_; }
  /// False from the first step on whose displacement has a number that is infinite or none: both spread, and stay.
  [[nodiscard]] bool is_finite() const noexcept;
  /// See exact_data. Empty without an exact solution.
  [[nodiscard]] std::vector<std::array<double, 2>> row_errors() const;

  [[nodiscard]] subdomain_state state(bool with_acceleration) const;
  /// Throws std::length_error where the state is of a box of another size.
  void restore(const subdomain_state& state);
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Rows that take the fast way; see row_use.
  [[nodiscard]] std::size_t uniform_rows() const noexcept { return material_.uniform_rows(); }

 private:
  void set_initial();
  void set_random();
  void place_sources();
  void add_sources(rows& rows, double factor, double (time_function::*part)(double) const) const;
  void place_receivers();
  void record();
  [[nodiscard]] double motion_of_row(const receiver& receiver, int row, int component) const;
  class accelerator;
  class advancer;

  std::shared_ptr<const problem> problem_;
  sweep_domain domain_;
  line_factors factors_;
  patch_material material_;
  std::array<rows, 2> displacements_;
  rows a_;
  int step_ = 0;

  std::vector<placed_source> sources_;  // in coordinates of the patch
  std::vector<recorded_part> recorded_;
  std::vector<double> records_;
  bool wants_energy_ = false;
  std::vector<double> energies_;
  std::unique_ptr<exact_data> exact_;  // null: at rest outside of the grid
};

}  // namespace waves
