// SPDX-License-Identifier: Apache-2.0
// Loops next to the surface, and those that end a step, over a vector type; see row_loops.hpp.
#pragma once

#include <cstddef>

#include "second_loops.hpp"

namespace waves {

/// Second derivatives along z in the first six planes. The point above the surface counts in the first one.
template <class Vec>
[[gnu::always_inline]] inline void second_at_edge(const row_task& row, int x, double* target,
                                                  std::ptrdiff_t component) {
  const std::ptrdiff_t c = row.u.steps.component, step = row.u.steps.plane, m = row.material.component;
  const auto edge_row = static_cast<std::size_t>(row.z.edge_row);
  const double* surface = row.u.begin + x - row.z.edge_row * step;
  Vec sums[3] = {};
  if (edge_row == 0) {
    const double* base = row.material_z[0] + x;
    const Vec normal = ghost_weight * load<Vec>(base), shear = ghost_weight * load<Vec>(base + m);
    for (int number = 0; number < 3; ++number) {
      sums[number] = (number == 2 ? normal : shear) * load<Vec>(surface + number * c - step);
    }
  }
  for (int point = 0; point < edge_points; ++point) {
    const auto& weights = second_edge[edge_row][static_cast<std::size_t>(point)];
    Vec normal{}, shear{};
    for (int place = 0; place < edge_points; ++place) {
      const double weight = weights[static_cast<std::size_t>(place)];
      if (weight == 0) continue;
      normal += weight * load<Vec>(row.material_z[place] + x);
      shear += weight * load<Vec>(row.material_z[place] + x + m);
    }
    for (int number = 0; number < 3; ++number) {
      sums[number] += (number == 2 ? normal : shear) * load<Vec>(surface + number * c + point * step);
    }
  }
  for (int number = 0; number < 3; ++number) {
    store<Vec>(target + number * component, load<Vec>(target + number * component) + sums[number]);
  }
}

template <class Vec>
[[gnu::always_inline]] inline void z_terms_at_edge(const row_task& row, const stress_rows& planes, triple sum) {
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    second_at_edge<Vec>(row, x, sum.begin + x, sum.component);
    for (int number = 0; number < 3; ++number) {
      const std::ptrdiff_t place = number * planes.component + x;
      Vec slope{};
      if (row.z.edge_row < first_edge_rows) {
        const auto& weights = first_edge[static_cast<std::size_t>(row.z.edge_row)];
        for (int point = 0; point < first_edge_points; ++point) {
          slope += weights[static_cast<std::size_t>(point)] * load<Vec>(planes.rows[point] + place);
        }
      } else {
        slope = 1.0 / 12 * slope_of<Vec>(planes, place);
      }
      double* target = sum.begin + number * sum.component + x;
      store<Vec>(target, load<Vec>(target) + slope);
    }
  }
}

template <class Vec>
[[gnu::always_inline]] inline void accelerate_row(const advance_task& row, double per_h2, triple sum, double* a) {
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const Vec inverse = load<Vec>(row.density_inverse + x);
    for (int number = 0; number < 3; ++number) {
      store<Vec>(a + number * row.component + x,
                 (per_h2 * load<Vec>(sum.begin + number * sum.component + x)) * inverse);
    }
  }
}

template <class Vec>
[[gnu::always_inline]] inline void advance_row(const advance_task& row, triple sum) {
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const Vec inverse = load<Vec>(row.density_inverse + x);
    for (int number = 0; number < 3; ++number) {
      const std::ptrdiff_t place = number * row.component + x;
      const Vec correction = (row.factor * load<Vec>(sum.begin + number * sum.component + x)) * inverse;
      const Vec steady = 2.0 * load<Vec>(row.u + place) - load<Vec>(row.previous + place);
      store<Vec>(row.previous + place, steady + (row.dt2 * load<Vec>(row.a + place) + correction));
    }
  }
}

/// S u = -w_x, S v = -w_y, c33 S w = -c13 (u_x + v_y), each with the traction over its modulus added.
template <class Vec, bool Layered>
[[gnu::always_inline]] inline void surface_row(const surface_task& row) {
  const std::ptrdiff_t c = row.u.steps.component, y = row.u.steps.row, plane = row.u.steps.plane;
  const double slope_y = row.stretch_y / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    const auto m = moduli_at<Vec, Layered>(row.material, x);
    const Vec c33 = load<Vec>(row.material.begin + x);
    const Vec slope_x = load<Vec>(row.slope_x + x);
    const Vec sides[3] = {slope_x * slope<Vec>(u + 2 * c, 1), slope_y * slope<Vec>(u + 2 * c, y),
                          m.c13 * (slope_x * slope<Vec>(u, 1) + slope_y * slope<Vec>(u + c, y)) / c33};
    for (int number = 0; number < 3; ++number) {
      Vec sum = sides[number];
      if (row.traction != nullptr) {
        sum -= load<Vec>(row.traction + number * row.traction_component + x) / (number == 2 ? c33 : m.c44);
      }
      for (int point = 0; point < 4; ++point) {
        sum += surface_derivative[static_cast<std::size_t>(point + 1)] * load<Vec>(u + number * c + point * plane);
      }
      store<Vec>(row.ghost + number * c + x, 4.0 * sum);
    }
  }
}

}  // namespace waves
