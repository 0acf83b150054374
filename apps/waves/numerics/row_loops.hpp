// SPDX-License-Identifier: Apache-2.0
// Differences over a vector type, and the stresses of a row. All is inlined, and so compiled for the instruction set of
// the caller. Each operation is rounded by itself (-ffp-contract=off): the number of lanes changes no bit.
#pragma once

#include <cstddef>
#include <cstring>

#include "row_kernels.hpp"

namespace waves {

template <class Vec>
inline constexpr int lanes_of = sizeof(Vec) / sizeof(double);

template <class Vec>
[[gnu::always_inline]] inline Vec load(const double* source) {
  Vec value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}
template <class Vec>
[[gnu::always_inline]] inline void store(double* target, Vec value) {
  std::memcpy(target, &value, sizeof(value));
}

/// 12 times the first derivative along `step`.
template <class Vec>
[[gnu::always_inline]] inline Vec slope(const double* f, std::ptrdiff_t step) {
  const Vec near = load<Vec>(f + step) - load<Vec>(f - step);
  const Vec far = load<Vec>(f + 2 * step) - load<Vec>(f - 2 * step);
  return 8.0 * near - far;
}

/// The derivative along z.
template <class Vec, bool Edge>
[[gnu::always_inline]] inline Vec slope_z(const double* f, std::ptrdiff_t plane, const vertical& z) {
  if constexpr (Edge) {
    const auto& weights = first_edge[static_cast<std::size_t>(z.edge_row)];
    const double* surface = f - z.edge_row * plane;
    Vec sum = weights[0] * load<Vec>(surface);
    for (int point = 1; point < first_edge_points; ++point) {
      sum += weights[static_cast<std::size_t>(point)] * load<Vec>(surface + point * plane);
    }
    return sum;
  } else {
    return z.stretch / 12 * slope<Vec>(f, plane);
  }
}

/// The moduli of mixed terms at one vector of points.
template <class Vec>
struct mixed_moduli {
  Vec c12, c13, c44, c66;
};
template <class Vec, bool Layered>
[[gnu::always_inline]] inline mixed_moduli<Vec> moduli_at(const material_view& material, int x) {
  const double* base = material.begin + x;
  const std::ptrdiff_t next = material.component;
  const Vec c44 = load<Vec>(base + next);
  if constexpr (Layered) {
    return {load<Vec>(base + 4 * next), load<Vec>(base + 5 * next), c44, load<Vec>(base + 6 * next)};
  } else {
    const Vec lambda = load<Vec>(base) - 2.0 * c44;
    return {lambda, lambda, c44, c44};
  }
}

template <class Vec, bool Layered>
[[gnu::always_inline]] inline void plane_stresses(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, y = row.u.steps.row;
  const double slope_y = row.stretch_y / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    const Vec slope_x = load<Vec>(row.slope_x + x);
    const auto m = moduli_at<Vec, Layered>(row.material, x);
    double* target = out.begin + x;
    store<Vec>(target, m.c44 * (slope_x * slope<Vec>(u + 2 * c, 1)));
    store<Vec>(target + out.component, m.c44 * (slope_y * slope<Vec>(u + 2 * c, y)));
    store<Vec>(target + 2 * out.component, m.c13 * (slope_x * slope<Vec>(u, 1) + slope_y * slope<Vec>(u + c, y)));
  }
}

template <class Vec, bool Layered, bool Edge>
[[gnu::always_inline]] inline void side_stresses(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, plane = row.u.steps.plane;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    const Vec slope_x = load<Vec>(row.slope_x + x);
    const auto m = moduli_at<Vec, Layered>(row.material, x);
    const Vec w_z = slope_z<Vec, Edge>(u + 2 * c, plane, row.z);
    double* target = out.begin + x;
    store<Vec>(target, m.c66 * (slope_x * slope<Vec>(u + c, 1)));
    store<Vec>(target + out.component, m.c12 * (slope_x * slope<Vec>(u, 1)) + m.c13 * w_z);
    store<Vec>(target + 2 * out.component, m.c44 * slope_z<Vec, Edge>(u + c, plane, row.z));
  }
}

template <class Vec, bool Layered, bool Edge>
[[gnu::always_inline]] inline void line_stresses(const row_task& row, triple out) {
  const std::ptrdiff_t c = row.u.steps.component, y = row.u.steps.row, plane = row.u.steps.plane;
  const double slope_y = row.stretch_y / 12;
  for (int x = row.begin; x < row.end; x += lanes_of<Vec>) {
    const double* u = row.u.begin + x;
    const auto m = moduli_at<Vec, Layered>(row.material, x);
    const Vec w_z = slope_z<Vec, Edge>(u + 2 * c, plane, row.z);
    double* target = out.begin + x;
    store<Vec>(target, m.c12 * (slope_y * slope<Vec>(u + c, y)) + m.c13 * w_z);
    store<Vec>(target + out.component, m.c66 * (slope_y * slope<Vec>(u, y)));
    store<Vec>(target + 2 * out.component, m.c44 * slope_z<Vec, Edge>(u, plane, row.z));
  }
}

}  // namespace waves
