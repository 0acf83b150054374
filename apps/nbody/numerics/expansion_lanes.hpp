// SPDX-License-Identifier: Apache-2.0
// Cartesian expansions of 1 / sqrt(r^2 + s^2) in lanes, one source in each: derivatives, and what they do to a target.
//
// Potential at place t of a body around the target's centre: sum over m of t^m / m! L_m, and
// L_m = sum over n of M_n D_{m+n}, with the derivatives D of the kernel at the vector from source to target, and the
// stored moments M. Derivatives come from McMurchie and Davidson's recurrence (J. Comput. Phys. 26 (1978) 218).
#pragma once

#include "indices.hpp"
#include "lanes.hpp"

namespace nbody {
namespace {

/// The axis along which the recurrence for the derivative `n` is cheapest: one where n is 1, else where it is least.
constexpr int cheapest_axis(multi_index n) noexcept {
  int best = -1;
  for (int axis = 0; axis < 3; ++axis) {
    if (n.axis(axis) > 0 && (best < 0 || n.axis(axis) < n.axis(best))) best = axis;
  }
  return best;
}

struct lane_vector {
  lanes x, y, z;
  template <int Axis>
  [[gnu::always_inline]] const lanes& along() const {
    if constexpr (Axis == 0) return x;
    if constexpr (Axis == 1) return y;
    if constexpr (Axis == 2) return z;
  }
};

/// All derivatives up to `Degree` of 1 / sqrt(|v|^2 + softening^2), for squared lengths that include the softening.
template <int Degree>
[[gnu::always_inline]] inline void derivatives(const lane_vector& v, lanes squared, lanes* result) {
  lanes table[Degree + 1][terms_up_to(Degree)];
  const lanes inverse = inverse_root(squared), minus_square = -inverse * inverse;
  table[0][0] = inverse;
  unrolled<Degree>([&](auto level) __attribute__((always_inline)) {
    table[level + 1][0] = table[level][0] * (minus_square * static_cast<float>(2 * level + 1));
  });
  unrolled<terms_up_to(Degree)>([&](auto place) __attribute__((always_inline)) {
    constexpr multi_index n = index_at(place);
    if constexpr (n.degree() > 0) {
      constexpr int axis = cheapest_axis(n), times = n.axis(axis);
      unrolled<Degree + 1 - n.degree()>([&](auto level) __attribute__((always_inline)) {
        lanes value = v.along<axis>() * table[level + 1][position_of(n - unit_index(axis))];
        if constexpr (times > 1) {
          value += static_cast<float>(times - 1) * table[level + 1][position_of(n - unit_index(axis, 2))];
        }
        table[level][place] = value;
      });
    }
  });
  unrolled<terms_up_to(Degree)>([&](auto place) __attribute__((always_inline)) { result[place] = table[0][place]; });
}

/// Adds what sources do to the terms up to TargetDegree of a target; terms whose degrees sum up to more than Order are
/// left out. `moments` are those from position 4 on, `stride` floats apart.
template <int SourceDegree, int TargetDegree, int Order>
[[gnu::always_inline]] inline void add_expansion(const lanes* derivative, lanes mass, const float* moments, int stride,
                                                 lanes* sums) {
  unrolled<terms_up_to(TargetDegree)>([&](auto place) __attribute__((always_inline)) {
    constexpr multi_index m = index_at(place);
    constexpr int degree = SourceDegree < Order - m.degree() ? SourceDegree : Order - m.degree();
    lanes sum = mass * derivative[place];
    if constexpr (degree >= 2) {
      unrolled<stored_moments(degree)>([&](auto number) __attribute__((always_inline)) {
        constexpr int together = position_of(m + index_at(number + 4));
        sum += load<lanes>(moments + number * stride) * derivative[together];
      });
    }
    sums[place] += sum;
  });
}

}  // namespace
}  // namespace nbody
