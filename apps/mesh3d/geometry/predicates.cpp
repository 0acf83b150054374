// SPDX-License-Identifier: Apache-2.0
// The slow ways of the predicates: a tighter filter, exact arithmetic, and ties.
#include "geometry/predicates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "meshing/exact_sum.hpp"
#include "meshing/expansion.hpp"

namespace mesh3d {
namespace detail {
namespace {

using meshing::exact_difference;
using meshing::expansion;

/// A difference of two points without rounding.
struct exact_vector {
  expansion<2> x, y, z;
  exact_vector(const point& target, const point& source) noexcept
      : x(exact_difference(target.x, source.x)),
        y(exact_difference(target.y, source.y)),
        z(exact_difference(target.z, source.z)) {}
};

expansion<16> exact_minor(const exact_vector& a, const exact_vector& b) noexcept { return a.x * b.y - a.y * b.x; }

expansion<192> exact_volume(const exact_vector& a, const exact_vector& b, const exact_vector& c) noexcept {
  return exact_minor(b, c) * a.z + exact_minor(c, a) * b.z + exact_minor(a, b) * c.z;
}

/// The product of a vector's squared length and a volume has far too many terms for a small stack, so they go into a
/// sum of fixed size.
void add_lifted(meshing::exact_sum& sum, const exact_vector& lifted, const expansion<192>& volume) noexcept {
  const auto square = lifted.x * lifted.x + lifted.y * lifted.y + lifted.z * lifted.z;
  for (int i = 0; i < square.size; ++i) {
    for (int j = 0; j < volume.size; ++j) sum.add_product(square[i], volume[j]);
  }
}

}  // namespace

double orient_exactly(const point& a, const point& b, const point& c, const point& d) noexcept {
  return exact_volume({b, a}, {c, a}, {d, a}).approximate();
}

double in_sphere_exactly(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept {
  const exact_vector p(a, e), q(b, e), r(c, e), s(d, e);
  meshing::exact_sum sum;
  add_lifted(sum, p, exact_volume(q, r, s));
  add_lifted(sum, q, exact_volume(p, s, r));
  add_lifted(sum, r, exact_volume(p, q, s));
  add_lifted(sum, s, exact_volume(p, r, q));
  return sum.value();
}

double in_sphere_carefully(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept {
  const std::array<point, 4> points{a - e, b - e, c - e, d - e};
  const auto product = [&](unsigned i, unsigned j) { return points[i].x * points[j].y; };
  const auto minor = [&](unsigned i, unsigned j) { return product(i, j) - product(j, i); };
  const auto size = [&](unsigned i, unsigned j) { return std::abs(product(i, j)) + std::abs(product(j, i)); };
  double determinant = 0, permanent = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned i = (k + 1) % 4, j = (k + 2) % 4, l = (k + 3) % 4;
    const double lift = squared_length(points[k]);
    const double volume = points[i].z * minor(j, l) + points[j].z * minor(l, i) + points[l].z * minor(i, j);
    determinant += k % 2 == 0 ? lift * volume : -lift * volume;
    permanent += lift * (std::abs(points[i].z) * size(j, l) + std::abs(points[j].z) * size(l, i) +
                         std::abs(points[l].z) * size(i, j));
  }
  const double bound = (in_sphere_error + 8 * epsilon) * permanent;  // the last sum has one addition more
  if (determinant > bound || -determinant > bound) return determinant;
  return in_sphere_exactly(a, b, c, d, e);
}

}  // namespace detail

double in_perturbed_sphere(const point& a, const point& b, const point& c, const point& d, const point& e) noexcept {
  const double exact = in_sphere(a, b, c, d, e);
  if (exact != 0) return exact;
  std::array<const point*, 5> order{&a, &b, &c, &d, &e};
  std::sort(order.begin(), order.end(), [](const point* p, const point* q) { return *p > *q; });
  for (const point* lifted : order) {
    if (lifted == &e) return -1;  // lifted above the sphere
    // The sphere follows its lifted corner: e is below where it is on the same side of the other three.
    const auto other = [&](const point& corner) -> const point& { return lifted == &corner ? e : corner; };
    const double side = orient(other(a), other(b), other(c), other(d));
    if (side != 0) return side;
  }
  return -1;
}

}  // namespace mesh3d
