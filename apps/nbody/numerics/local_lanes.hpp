// SPDX-License-Identifier: Apache-2.0
// Local expansions: from parent to child, and at the bodies of a leaf.
#pragma once

#include "indices.hpp"
#include "lanes.hpp"

namespace nbody {
namespace {

/// Sets monomials[n] to v^n / n! for all n up to Degree.
template <int Degree, class Number>
[[gnu::always_inline]] inline void monomials_of(Number x, Number y, Number z, Number* monomials) {
  monomials[0] = Number{} + 1.0f;
  unrolled<terms_up_to(Degree)>([&](auto place) __attribute__((always_inline)) {
    constexpr multi_index n = index_at(place);
    if constexpr (n.degree() > 0) {
      constexpr int axis = n.x > 0 ? 0 : n.y > 0 ? 1 : 2;
      const Number& along = axis == 0 ? x : axis == 1 ? y : z;
      monomials[place] = monomials[position_of(n - unit_index(axis))] * along * (1.0f / n.axis(axis));
    }
  });
}

template <int Order>
struct local_expansion {
  float terms[terms_up_to(Order)] = {};

  void add(const local_expansion& other) {
    for (int k = 0; k < terms_up_to(Order); ++k) terms[k] += other.terms[k];
  }

  /// Moves the centre by a vector.
  void shift(float x, float y, float z) {
    float monomials[terms_up_to(Order)];
    monomials_of<Order>(x, y, z, monomials);
    unrolled<terms_up_to(Order)>([&](auto place) __attribute__((always_inline)) {
      constexpr multi_index m = index_at(place);
      float sum = terms[place];
      unrolled<terms_up_to(Order - m.degree())>([&](auto number) __attribute__((always_inline)) {
        if constexpr (number > 0) sum += monomials[number] * terms[position_of(m + index_at(number))];
      });
      terms[place] = sum;  // reads only terms of its own degree and above, which change later
    });
  }

  /// Adds the acceleration and the potential at lane_count bodies from `first` on.
  void evaluate(float* const* targets, int first) const {
    const lanes x = load<lanes>(targets[0] + first), y = load<lanes>(targets[1] + first);
    const lanes z = load<lanes>(targets[2] + first);
    lanes monomials[terms_up_to(Order)], sums[4] = {};
    monomials_of<Order>(x, y, z, monomials);
    unrolled<terms_up_to(Order)>([&](auto place) __attribute__((always_inline)) {
      constexpr multi_index m = index_at(place);
      sums[3] += monomials[place] * terms[place];
      unrolled<3>([&](auto axis) __attribute__((always_inline)) {
        if constexpr (m.axis(axis) > 0) sums[axis] += monomials[position_of(m - unit_index(axis))] * terms[place];
      });
    });
    for (int k = 0; k < 4; ++k) store(targets[3 + k] + first, load<lanes>(targets[3 + k] + first) + sums[k]);
  }
};

}  // namespace
}  // namespace nbody
