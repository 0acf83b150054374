// SPDX-License-Identifier: Apache-2.0
// Multi-indices of Cartesian expansions: their order, and the sums that compilers unroll over them.
#pragma once

#include <type_traits>
#include <utility>

namespace nbody {

/// Exponents of x, y and z.
struct multi_index {
  int x, y, z;
  [[nodiscard]] constexpr int degree() const noexcept { return x + y + z; }
  [[nodiscard]] constexpr int axis(int number) const noexcept { return number == 0 ? x : number == 1 ? y : z; }
};

constexpr multi_index operator+(multi_index a, multi_index b) noexcept { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr multi_index operator-(multi_index a, multi_index b) noexcept { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr multi_index unit_index(int axis, int times = 1) noexcept {
  return {axis == 0 ? times : 0, axis == 1 ? times : 0, axis == 2 ? times : 0};
}

/// Number of multi-indices of a degree up to `degree`.
constexpr int terms_up_to(int degree) noexcept { return (degree + 1) * (degree + 2) * (degree + 3) / 6; }

/// Multi-indices are ordered by degree, then by falling x, then by falling y: an expansion of lower order is a prefix.
constexpr int position_of(multi_index n) noexcept {
  const int degree = n.degree(), rest = n.y + n.z;
  return terms_up_to(degree - 1) + rest * (rest + 1) / 2 + n.z;
}

/// Inverse of position_of.
constexpr multi_index index_at(int position) noexcept {
  int degree = 0, rest = 0;
  while (terms_up_to(degree) <= position) ++degree;
  position -= terms_up_to(degree - 1);
  while ((rest + 1) * (rest + 2) / 2 <= position) ++rest;
  const int z = position - rest * (rest + 1) / 2;
  return {degree - rest, rest - z, z};
}

/// Terms of the multipole expansion that are stored beside the mass: those of degree 2 to `degree`. Those of degree 1
/// are 0 about the centre of mass.
constexpr int stored_moments(int degree) noexcept { return degree < 2 ? 0 : terms_up_to(degree) - 4; }

constexpr bool is_valid(multi_index n) noexcept { return n.x >= 0 && n.y >= 0 && n.z >= 0; }

constexpr double factorial(int n) noexcept { return n < 2 ? 1 : n * factorial(n - 1); }
constexpr double factorial(multi_index n) noexcept { return factorial(n.x) * factorial(n.y) * factorial(n.z); }

/// Calls `body` with std::integral_constant<int, 0>, 1, ... up to Count - 1, unrolled.
template <int Count, class Body>
[[gnu::always_inline]] constexpr void unrolled(Body&& body) {
  [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, K>{}), ...);
  }
  (std::make_integer_sequence<int, Count>{});
}

}  // namespace nbody
