// SPDX-License-Identifier: Apache-2.0
// Damping of a row over a vector type; see damping.hpp and row_loops.hpp.
#pragma once

#include <cstddef>

#include "row_loops.hpp"

namespace waves {

/// The density, or a large number where nothing moves.
template <class Vec>
[[gnu::always_inline]] inline Vec density(const double* inverse) {
  return 1.0 / (load<Vec>(inverse) + 1e-300);
}

/// The undivided second difference of u - previous around a point.
template <class Vec>
[[gnu::always_inline]] inline Vec bend(const double* u, std::ptrdiff_t step, const double* previous,
                                       std::ptrdiff_t previous_step) {
  const Vec predecessor = load<Vec>(u - step) - load<Vec>(previous - previous_step);
  const Vec site = load<Vec>(u) - load<Vec>(previous);
  const Vec rest = load<Vec>(u + step) - load<Vec>(previous + previous_step);
  return (predecessor - 2.0 * site) + rest;
}

template <class Vec>
[[gnu::always_inline]] inline void damp_row_x(const damping_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* inverse = row.density_inverse[1] + x;
    Vec weights[3];
    for (int k = 0; k < 3; ++k) weights[k] = load<Vec>(row.profile_x + x + k - 1) * density<Vec>(inverse + k - 1);
    const Vec factor = row.factor * load<Vec>(row.line + x);
    for (int number = 0; number < 3; ++number) {
      const double *u = row.u.begin + number * c + x, *previous = row.previous.begin + number * c + x;
      Vec stress[3];
      for (int k = 0; k < 3; ++k) stress[k] = weights[k] * bend<Vec>(u + k - 1, 1, previous + k - 1, 1);
      store<Vec>(out.begin + number * out.component + x, factor * ((stress[0] - 2.0 * stress[1]) + stress[2]));
    }
  }
}

/// Along y or z: `distance` is the member of strides that says how far neighbours are.
template <class Vec, std::ptrdiff_t strides::*distance>
[[gnu::always_inline]] inline void damp_row_across(const damping_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, step = row.u.steps.*distance;
  const std::ptrdiff_t before_step = row.previous.steps.*distance;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    Vec weights[3];
    for (int k = 0; k < 3; ++k) weights[k] = row.profiles[k] * density<Vec>(row.density_inverse[k] + x);
    const Vec factor = row.factor * load<Vec>(row.line + x);
    for (int number = 0; number < 3; ++number) {
      const double *u = row.u.begin + number * c + x, *previous = row.previous.begin + number * c + x;
      Vec stress[3];
      for (int k = 0; k < 3; ++k) {
        stress[k] = weights[k] * bend<Vec>(u + (k - 1) * step, step, previous + (k - 1) * before_step, before_step);
      }
      double* target = out.begin + number * out.component + x;
      store<Vec>(target, load<Vec>(target) + factor * ((stress[0] - 2.0 * stress[1]) + stress[2]));
    }
  }
}

template <class Vec>
[[gnu::always_inline]] inline void apply_damping_row(const damping_task& row, triple damping, double* previous) {
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const Vec inverse = load<Vec>(row.density_inverse[1] + x);
    for (int number = 0; number < 3; ++number) {
      double* target = previous + number * row.previous.steps.component + x;
      store<Vec>(target, load<Vec>(target) + inverse * load<Vec>(damping.begin + number * damping.component + x));
    }
  }
}

}  // namespace waves
