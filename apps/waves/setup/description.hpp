// SPDX-License-Identifier: Apache-2.0
// What a user asks to be computed, in metres and seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "numerics/problem.hpp"

namespace waves {

struct named_place {
  std::string name;
  position place{};
};

struct description {
  std::string name;
  position size{};  ///< of the box inside of absorbing layers
  double h = 0;
  double time = 0;
  int layers = 30;              ///< points of an absorbing layer; 0: the sides do not move, or as the exact solution
  double step = 1.3;            ///< dt over h / the greatest sqrt((4 mu + lambda)/rho)
  bool is_step_forced = false;  ///< the user takes steps beyond the safe length, 1.3
  top_side top = top_side::free_surface;
  model material;
  std::vector<point_source> sources;
  std::vector<named_place> receivers;
  std::shared_ptr<const harmonic_motion> exact;
  initial_state initial;
};

/// Throws nacre::setup_error, which says what to change, for anything that cannot be computed.
void check(const description& asked);

/// The problem of a description that has been checked.
[[nodiscard]] problem make_problem(const description& asked, const row_kernels& kernels);

}  // namespace waves
