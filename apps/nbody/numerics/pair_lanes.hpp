// SPDX-License-Identifier: Apache-2.0
// Forces between single bodies, in lanes: four targets at a time against lane_count sources at a time.
#pragma once

#include "lanes.hpp"
#include "walk.hpp"

namespace nbody {
namespace {

struct pair_terms {
  lanes force, potential;  // each for a mass of 1; the force divided by the distance
};

template <bool Refined>
[[gnu::always_inline]] inline pair_terms plummer_pair(lanes squared) {
  const lanes y = Refined ? inverse_root(squared) : root_estimate(squared);
  return {y * y * y, y};
}

/// GADGET's spline of the length h, for squared distances.
[[gnu::always_inline]] inline pair_terms spline_pair(lanes squared, float h) {
  const lanes inverse = inverse_root(squared), r = squared * inverse, u = r * (1 / h), v = u * u,
              inverse_u = h * inverse;
  const float h_cubed = 1 / (h * h * h);
  const lanes inner_force = h_cubed * (32.0f / 3 + v * (32 * u - 38.4f));
  const lanes outer_force =
      h_cubed * (64.0f / 3 - 48 * u + 38.4f * v - 32.0f / 3 * u * v - inverse_u * inverse_u * inverse_u * (1.0f / 15));
  const lanes inner = 1 / h * (2.8f - v * (16.0f / 3 + v * (6.4f * u - 9.6f)));
  const lanes outer =
      1 / h * (3.2f - inverse_u * (1.0f / 15) - v * (32.0f / 3 + u * (-16 + u * (9.6f - 32.0f / 15 * u))));
  return {u < 0.5f ? inner_force : (u < 1.0f ? outer_force : inverse * inverse * inverse),
          u < 0.5f ? inner : (u < 1.0f ? outer : inverse)};
}

template <bool Refined, bool Potential, softening_shape Shape, int Block>
[[gnu::always_inline]] inline void pair_block(const float* const* source, int count, float* const* target,
                                              const walk_rules& rules) {
  lanes x[Block], y[Block], z[Block], sum_x[Block] = {}, sum_y[Block] = {}, sum_z[Block] = {}, sum[Block] = {};
  const lanes tiny = spread(rules.softening_squared);
  for (int k = 0; k < Block; ++k) {
    x[k] = spread(target[0][k]), y[k] = spread(target[1][k]), z[k] = spread(target[2][k]);
  }
  for (int first = 0; first < count; first += lane_count) {
    const auto source_x = load<lanes>(source[0] + first), source_y = load<lanes>(source[1] + first);
    const auto source_z = load<lanes>(source[2] + first), mass = load<lanes>(source[3] + first);
#pragma GCC unroll 4
    for (int k = 0; k < Block; ++k) {
      const lanes dx = source_x - x[k], dy = source_y - y[k], dz = source_z - z[k];
      const lanes squared = dx * dx + (dy * dy + (dz * dz + tiny));
      pair_terms terms;
      if constexpr (Shape == softening_shape::spline) {
        terms = spline_pair(squared, rules.spline_length);
      } else {
        terms = plummer_pair<Refined>(squared);
      }
      const lanes factor = mass * terms.force;
      sum_x[k] += dx * factor, sum_y[k] += dy * factor, sum_z[k] += dz * factor;
      if constexpr (Potential) {  // a body has no potential in itself
        sum[k] += squared > tiny ? mass * terms.potential : lanes{};
      }
    }
  }
  for (int k = 0; k < Block; ++k) {
    target[3][k] += sum_of(sum_x[k]), target[4][k] += sum_of(sum_y[k]), target[5][k] += sum_of(sum_z[k]);
    if constexpr (Potential) target[6][k] += sum_of(sum[k]);
  }
}

template <bool Refined, bool Potential, softening_shape Shape>
void all_pairs(const float* const* source, int count, float* const* target, int target_count, const walk_rules& rules) {
  int first = 0;
  const auto shifted = [&](float** local) __attribute__((always_inline)) {
    for (int k = 0; k < 7; ++k) local[k] = target[k] + first;
  };
  float* site[7];
  for (; first + 4 <= target_count; first += 4) {
    shifted(site);
    pair_block<Refined, Potential, Shape, 4>(source, count, site, rules);
  }
  for (; first < target_count; ++first) {
    shifted(site);
    pair_block<Refined, Potential, Shape, 1>(source, count, site, rules);
  }
}

/// Adds what `count` sources, a multiple of lane_count, do to the targets.
inline void add_pairs(const float* const* source, int count, float* const* target, int target_count,
                      const walk_rules& rules) {
  constexpr auto plummer = softening_shape::plummer, spline = softening_shape::spline;
  using function = void (*)(const float* const*, int, float* const*, int, const walk_rules&);
  constexpr function functions[2][2] = {{all_pairs<false, false, plummer>, all_pairs<false, true, plummer>},
                                        {all_pairs<true, false, plummer>, all_pairs<true, true, plummer>}};
  constexpr function splines[2] = {all_pairs<true, false, spline>, all_pairs<true, true, spline>};
  const function chosen = rules.shape == spline ? splines[rules.potential] : functions[rules.refined][rules.potential];
  chosen(source, count, target, target_count, rules);
}

}  // namespace
}  // namespace nbody
