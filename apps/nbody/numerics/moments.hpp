// SPDX-License-Identifier: Apache-2.0
// Multipoles: of bodies, of cells from those of their children, and as lanes of a group.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "branch.hpp"
#include "group.hpp"
#include "indices.hpp"

namespace nbody {

/// v^n / n! for all n up to Degree.
template <int Degree>
void set_monomials(const vector3& v, double* monomials) {
  monomials[0] = 1;
  unrolled<terms_up_to(Degree)>([&](auto place) {
    constexpr multi_index n = index_at(place);
    if constexpr (n.degree() > 0) {
      constexpr int axis = n.x > 0 ? 0 : n.y > 0 ? 1 : 2;
      monomials[place] = monomials[position_of(n - unit_index(axis))] * v[axis] / n.axis(axis);
    }
  });
}

/// Adds a mass at the vector v from the centre.
template <int Degree>
void add_mass(cell_moments& cell, const vector3& v, double mass) {
  double monomials[terms_up_to(Degree)];
  set_monomials<Degree>(v, monomials);
  for (int k = 0; k < terms_up_to(Degree); ++k) cell.terms[static_cast<std::size_t>(k)] += mass * monomials[k];
}

/// Adds the multipoles of a child whose centre is at the vector v from the centre.
template <int Degree>
void add_child(cell_moments& cell, const cell_moments& child, const vector3& v) {
  double monomials[terms_up_to(Degree)];
  set_monomials<Degree>(v, monomials);
  unrolled<terms_up_to(Degree)>([&](auto place) {
    constexpr multi_index n = index_at(place);
    double sum = 0;
    unrolled<place + 1>([&](auto part) {
      constexpr multi_index rest = n - index_at(part);
      if constexpr (is_valid(rest)) sum += monomials[position_of(rest)] * child.terms[part];
    });
    cell.terms[place] += sum;
  });
}

/// Writes a cell into a lane.
template <int Order>
void set_lane(group<Order>& target, int lane, const cell_moments& cell, const accuracy& wanted, double spline_length) {
  target.x[lane] = cell.x, target.y[lane] = cell.y, target.z[lane] = cell.z;
  target.radius[lane] = static_cast<float>(cell.radius);
  target.reach[lane] = static_cast<float>(cell.radius / wanted.source_angle + spline_length);
  target.mass[lane] = static_cast<float>(cell.mass);
  target.count[lane] = cell.count;
  target.used = static_cast<std::uint8_t>(target.used | 1u << lane);
  unrolled<stored_moments(group<Order>::source_degree)>([&](auto number) {
    constexpr int place = number + 4, sign = index_at(place).degree() % 2 == 0 ? 1 : -1;
    target.moments[number][lane] = static_cast<float>(sign * cell.terms[place]);
  });
}

/// The cell whose children are given: its centre, mass and multipoles; the radius is a bound.
template <int Order>
cell_moments parent_of(const cell_moments* children, std::size_t count) {
  constexpr int degree = group<Order>::source_degree;
  cell_moments parent;
  for (std::size_t k = 0; k < count; ++k) {
    const cell_moments& child = children[k];
    parent.mass += child.mass, parent.count += child.count;
    parent.x += child.mass * child.x, parent.y += child.mass * child.y, parent.z += child.mass * child.z;
  }
  parent.x /= parent.mass, parent.y /= parent.mass, parent.z /= parent.mass;
  parent.terms.assign(terms_up_to(degree), 0);
  for (std::size_t k = 0; k < count; ++k) {
    const vector3 v{children[k].x - parent.x, children[k].y - parent.y, children[k].z - parent.z};
    add_child<degree>(parent, children[k], v);
    parent.radius = std::max(parent.radius, length(v) + children[k].radius);
  }
  return parent;
}

}  // namespace nbody
