// SPDX-License-Identifier: Apache-2.0
// Second derivatives of a row, and what derivatives of stresses add, over a vector type; see row_loops.hpp.
#pragma once

#include <cstddef>

#include "row_loops.hpp"

namespace waves {

/// The weights of neighbours at -2, -1, 1, 2 in 6 d/dx(m d/dx).
template <class Vec>
struct second_weights {
  Vec far_before, before, behind, far_behind;
  [[gnu::always_inline]] second_weights(Vec m0, Vec m1, Vec m2, Vec m3, Vec m4)
      : far_before(m1 - 0.75 * (m2 + m0)),
        before(m0 + m3 + 3.0 * (m2 + m1)),
        behind(m1 + m4 + 3.0 * (m3 + m2)),
        far_behind(m3 - 0.75 * (m2 + m4)) {}
  [[gnu::always_inline]] Vec of(const double* f, std::ptrdiff_t step) const {
    const Vec site = load<Vec>(f);
    return far_before * (load<Vec>(f - 2 * step) - site) + before * (load<Vec>(f - step) - site) +
           behind * (load<Vec>(f + step) - site) + far_behind * (load<Vec>(f + 2 * step) - site);
  }
};

/// The weights for a modulus at a place of five rows. `stretch` is s at these rows.
template <class Vec, bool Stretched>
[[gnu::always_inline]] inline second_weights<Vec> weights_across(const double* const* m, std::ptrdiff_t index,
                                                                 const double* stretch) {
  if constexpr (Stretched) {
    return {load<Vec>(m[0] + index) * stretch[0], load<Vec>(m[1] + index) * stretch[1],
            load<Vec>(m[2] + index) * stretch[2], load<Vec>(m[3] + index) * stretch[3],
            load<Vec>(m[4] + index) * stretch[4]};
  } else {
    return {load<Vec>(m[0] + index), load<Vec>(m[1] + index), load<Vec>(m[2] + index), load<Vec>(m[3] + index),
            load<Vec>(m[4] + index)};
  }
}
/// Along x s differs from point to point.
template <class Vec, bool Stretched>
[[gnu::always_inline]] inline second_weights<Vec> weights_along_x(const double* m, const double* stretch) {
  if constexpr (Stretched) {
    const auto product = [&](int index) __attribute__((always_inline)) {
      return load<Vec>(m + index) * load<Vec>(stretch + index);
    };
    return {product(-2), product(-1), product(0), product(1), product(2)};
  } else {
    return {load<Vec>(m - 2), load<Vec>(m - 1), load<Vec>(m), load<Vec>(m + 1), load<Vec>(m + 2)};
  }
}

template <class Vec, bool Layered, bool Stretched>
[[gnu::always_inline]] inline void x_terms_between(const row_task& row, triple line, triple sum, int begin, int end) {
  const std::ptrdiff_t c = row.u.steps.component, m = row.material.component;
  for (int x = begin; x < end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    const double* base = row.material.begin + x;
    const double* plane = Layered ? base + 3 * m : base;
    const double* c66 = Layered ? base + 6 * m : base + m;
    const double* s = row.stretch_x + x;
    const double* source = line.begin + x;
    double* target = sum.begin + x;
    const Vec slope_x = load<Vec>(row.slope_x + x), second = 2.0 * slope_x;
    const auto normal = weights_along_x<Vec, Stretched>(plane, s);
    const auto shear = weights_along_x<Vec, Stretched>(base + m, s);
    const auto side = Layered ? weights_along_x<Vec, Stretched>(c66, s) : shear;
    store<Vec>(target, second * normal.of(u, 1) + slope_x * slope<Vec>(source, 1));
    store<Vec>(target + sum.component, second * side.of(u + c, 1) + slope_x * slope<Vec>(source + line.component, 1));
    store<Vec>(target + 2 * sum.component,
               second * shear.of(u + 2 * c, 1) + slope_x * slope<Vec>(source + 2 * line.component, 1));
  }
}

template <class Vec, bool Layered>
[[gnu::always_inline]] inline void x_terms(const row_task& row, triple line, triple sum) {
  x_terms_between<Vec, Layered, true>(row, line, sum, row.begin, row.plain_begin);
  x_terms_between<Vec, Layered, false>(row, line, sum, row.plain_begin, row.plain_end);
  x_terms_between<Vec, Layered, true>(row, line, sum, row.plain_end, row.end);
}

/// 12 times the derivative of stresses in five rows.
template <class Vec>
[[gnu::always_inline]] inline Vec slope_of(const stress_rows& stresses, std::ptrdiff_t index) {
  const Vec near = load<Vec>(stresses.rows[3] + index) - load<Vec>(stresses.rows[1] + index);
  const Vec far = load<Vec>(stresses.rows[4] + index) - load<Vec>(stresses.rows[0] + index);
  return 8.0 * near - far;
}

template <class Vec, bool Layered, bool Stretched>
[[gnu::always_inline]] inline void y_terms(const row_task& row, const stress_rows& side, triple sum) {
  const std::ptrdiff_t c = row.u.steps.component, m = row.material.component, step = row.u.steps.row;
  const double slope_y = row.stretch_y / 12, second = row.stretch_y / 6;
  const double* s = row.stretch_y_near;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    double* target = sum.begin + x;
    const auto normal = weights_across<Vec, Stretched>(row.material_y, x + (Layered ? 3 * m : 0), s);
    const auto shear = weights_across<Vec, Stretched>(row.material_y, x + m, s);
    const auto side_shear = Layered ? weights_across<Vec, Stretched>(row.material_y, x + 6 * m, s) : shear;
    const auto add = [&](std::ptrdiff_t number, const second_weights<Vec>& weights) __attribute__((always_inline)) {
      double* destination = target + number * sum.component;
      store<Vec>(destination, load<Vec>(destination) + (second * weights.of(u + number * c, step) +
                                                        slope_y * slope_of<Vec>(side, number * side.component + x)));
    };
    add(0, side_shear);
    add(1, normal);
    add(2, shear);
  }
}

template <class Vec, bool Stretched>
[[gnu::always_inline]] inline void z_terms_inside(const row_task& row, const stress_rows& planes, triple sum) {
  const std::ptrdiff_t c = row.u.steps.component, step = row.u.steps.plane;
  const double slope_z = row.z.stretch / 12, second = row.z.stretch / 6;
  const double* s = row.stretch_z_near;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    double* target = sum.begin + x;
    const auto normal = weights_across<Vec, Stretched>(row.material_z, x, s);
    const auto shear = weights_across<Vec, Stretched>(row.material_z, x + row.material.component, s);
    const auto add = [&](std::ptrdiff_t number, const second_weights<Vec>& weights) __attribute__((always_inline)) {
      double* destination = target + number * sum.component;
      store<Vec>(destination,
                 load<Vec>(destination) + (second * weights.of(u + number * c, step) +
                                           slope_z * slope_of<Vec>(planes, number * planes.component + x)));
    };
    add(0, shear);
    add(1, shear);
    add(2, normal);
  }
}

}  // namespace waves
