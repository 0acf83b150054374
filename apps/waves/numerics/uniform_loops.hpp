// SPDX-License-Identifier: Apache-2.0
// Rows of one material among such rows, over a vector type: moduli stand before all derivatives, and the mixed ones of
// a component are one, (lambda + mu) d/dx(v_y + w_z). About a third of the operations of rows that vary.
#pragma once

#include <cstddef>

#include "second_loops.hpp"

namespace waves {

template <class Vec>
[[gnu::always_inline]] inline void line_slopes(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, y = row.u.steps.row, plane = row.u.steps.plane;
  const double slope_y = row.stretch_y / 12, slope_z = row.z.stretch / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    store<Vec>(out.begin + x, slope_y * slope<Vec>(u + c, y) + slope_z * slope<Vec>(u + 2 * c, plane));
  }
}

template <class Vec>
[[gnu::always_inline]] inline void side_slopes(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, plane = row.u.steps.plane;
  const double slope_z = row.z.stretch / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    store<Vec>(out.begin + x, load<Vec>(row.slope_x + x) * slope<Vec>(u, 1) + slope_z * slope<Vec>(u + 2 * c, plane));
  }
}

template <class Vec>
[[gnu::always_inline]] inline void plane_slopes(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, y = row.u.steps.row;
  const double slope_y = row.stretch_y / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    store<Vec>(out.begin + x, load<Vec>(row.slope_x + x) * slope<Vec>(u, 1) + slope_y * slope<Vec>(u + c, y));
  }
}

/// 12 times the second derivative along `step`, for a modulus of 1.
template <class Vec>
[[gnu::always_inline]] inline Vec bend_along(const double* f, std::ptrdiff_t step) {
  const Vec twice = 2.0 * load<Vec>(f);
  const Vec near = (load<Vec>(f - step) + load<Vec>(f + step)) - twice;
  const Vec far = (load<Vec>(f - 2 * step) + load<Vec>(f + 2 * step)) - twice;
  return 16.0 * near - far;
}

/// The same where s changes from row to row: `weights` are those of neighbours at -2, -1, 1, 2.
template <class Vec>
[[gnu::always_inline]] inline Vec bend_across(const double* f, std::ptrdiff_t step, const double* weights) {
  const Vec site = load<Vec>(f);
  return weights[0] * (load<Vec>(f - 2 * step) - site) + weights[1] * (load<Vec>(f - step) - site) +
         weights[2] * (load<Vec>(f + step) - site) + weights[3] * (load<Vec>(f + 2 * step) - site);
}

/// 12 times s d/dy(s d/dy), or the same along z.
struct row_bend {
  std::ptrdiff_t step = 0;
  double weights[4] = {};

  [[gnu::always_inline]] row_bend(std::ptrdiff_t distance, double stretch, const double* s) : step(distance) {
    const double twice = 2 * stretch;
    weights[0] = twice * (s[1] - 0.75 * (s[2] + s[0]));
    weights[1] = twice * (s[0] + s[3] + 3 * (s[2] + s[1]));
    weights[2] = twice * (s[1] + s[4] + 3 * (s[3] + s[2]));
    weights[3] = twice * (s[3] - 0.75 * (s[2] + s[4]));
  }
  template <class Vec, bool Stretched>
  [[gnu::always_inline]] Vec of(const double* f) const {
    if constexpr (Stretched) {
      return bend_across<Vec>(f, step, weights);
    } else {
      return bend_along<Vec>(f, step);
    }
  }
};

/// What the terms of a row are made of.
struct uniform_row {
  const row_task* task = nullptr;
  const double* line = nullptr;
  const slope_rows* slopes = nullptr;
  triple sum;
};

/// 12 times the derivative of slopes in five rows.
template <class Vec>
[[gnu::always_inline]] inline Vec slope_across(const double* const* rows, int x) {
  const Vec near = load<Vec>(rows[3] + x) - load<Vec>(rows[1] + x);
  const Vec far = load<Vec>(rows[4] + x) - load<Vec>(rows[0] + x);
  return 8.0 * near - far;
}

/// `StretchedX`: these points are in reach of a layer along x; `Stretched`: the row is in reach of another one.
template <class Vec, bool StretchedX, bool Stretched>
[[gnu::always_inline]] inline void uniform_terms_between(const uniform_row& uniform_row, int begin, int end) {
  const row_task& row = *uniform_row.task;
  const std::ptrdiff_t c = row.u.steps.component;
  const row_bend along_y(row.u.steps.row, row.stretch_y, row.stretch_y_near);
  const row_bend along_z(row.u.steps.plane, row.z.stretch, row.stretch_z_near);
  const double normal = row.material.begin[0] / 12, shear = row.material.begin[row.material.component] / 12;
  const double mixed = normal - shear, mixed_y = mixed * row.stretch_y, mixed_z = mixed * row.z.stretch;
  for (int x = begin; x < end; x += lanes_of<Vec>) {
    const double *u = row.u.begin + x, *v = u + c, *w = v + c;
    Vec bends[3], slope_x = slope<Vec>(uniform_row.line + x, 1);
    if constexpr (StretchedX) {
      const double* s = row.stretch_x + x;
      const auto weights = weights_along_x<Vec, false>(s, nullptr);
      const Vec twice = 2.0 * load<Vec>(s);
      for (int number = 0; number < 3; ++number) bends[number] = twice * weights.of(u + number * c, 1);
      slope_x = load<Vec>(s) * slope_x;
    } else {
      for (int number = 0; number < 3; ++number) bends[number] = bend_along<Vec>(u + number * c, 1);
    }
    double* target = uniform_row.sum.begin + x;
    store<Vec>(target, normal * bends[0] + shear * (along_y.of<Vec, Stretched>(u) + along_z.of<Vec, Stretched>(u)) +
                           mixed * slope_x);
    store<Vec>(target + uniform_row.sum.component, normal * along_y.of<Vec, Stretched>(v) +
                                                       shear * (bends[1] + along_z.of<Vec, Stretched>(v)) +
                                                       mixed_y * slope_across<Vec>(uniform_row.slopes->side, x));
    store<Vec>(target + 2 * uniform_row.sum.component, normal * along_z.of<Vec, Stretched>(w) +
                                                           shear * (bends[2] + along_y.of<Vec, Stretched>(w)) +
                                                           mixed_z * slope_across<Vec>(uniform_row.slopes->plane, x));
  }
}

template <class Vec, bool Stretched>
[[gnu::always_inline]] inline void uniform_terms(const row_task& row, triple line, const slope_rows& slopes,
                                                 triple sum) {
  const uniform_row uniform_row{&row, line.begin, &slopes, sum};
  uniform_terms_between<Vec, true, Stretched>(uniform_row, row.begin, row.plain_begin);
  uniform_terms_between<Vec, false, Stretched>(uniform_row, row.plain_begin, row.plain_end);
  uniform_terms_between<Vec, true, Stretched>(uniform_row, row.plain_end, row.end);
}

}  // namespace waves
