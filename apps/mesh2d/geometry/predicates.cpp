// SPDX-License-Identifier: Apache-2.0
// The slow ways of the predicates: a tighter filter, then exact arithmetic.
#include "geometry/predicates.hpp"

#include <cmath>

#include "meshing/expansion.hpp"

namespace mesh2d::detail {
namespace {

using meshing::exact_difference;
using meshing::expansion;
using difference = expansion<2>;

expansion<16> exact_cross(const difference& ax, const difference& ay, const difference& bx, const difference& by) {
  return ax * by - ay * bx;
}

double in_circle_exactly(const point& a, const point& b, const point& c, const point& d) noexcept {
  const difference ax = exact_difference(a.x, d.x), ay = exact_difference(a.y, d.y);
  const difference bx = exact_difference(b.x, d.x), by = exact_difference(b.y, d.y);
  const difference cx = exact_difference(c.x, d.x), cy = exact_difference(c.y, d.y);
  const auto of_a = (ax * ax + ay * ay) * exact_cross(bx, by, cx, cy);
  const auto of_b = (bx * bx + by * by) * exact_cross(cx, cy, ax, ay);
  const auto of_c = (cx * cx + cy * cy) * exact_cross(ax, ay, bx, by);
  return ((of_a + of_b) + of_c).approximate();
}

}  // namespace

double orient_exactly(const point& a, const point& b, const point& c) noexcept {
  const difference ax = exact_difference(a.x, c.x), ay = exact_difference(a.y, c.y);
  const difference bx = exact_difference(b.x, c.x), by = exact_difference(b.y, c.y);
  return exact_cross(ax, ay, bx, by).approximate();
}

double in_circle_carefully(const point& a, const point& b, const point& c, const point& d) noexcept {
  const double ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
  const double of_a = ax * ax + ay * ay, of_b = bx * bx + by * by, of_c = cx * cx + cy * cy;
  const double determinant = of_a * (bx * cy - by * cx) + of_b * (cx * ay - cy * ax) + of_c * (ax * by - ay * bx);
  const double permanent = of_a * (std::abs(bx * cy) + std::abs(by * cx)) +
                           of_b * (std::abs(cx * ay) + std::abs(cy * ax)) +
                           of_c * (std::abs(ax * by) + std::abs(ay * bx));
  const double bound = in_circle_error * permanent;
  if (determinant > bound || -determinant > bound) return determinant;
  return in_circle_exactly(a, b, c, d);
}

}  // namespace mesh2d::detail
