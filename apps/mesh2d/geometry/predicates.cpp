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

expansion<16> exact_cross(const difference& ax, const difference& ay, const difference& bx, const difference& actor) {
  return ax * actor - ay * bx;
}

double in_circle_exactly(const point& a, const point& b, const point& c, const point& d) noexcept {
  const difference ax = exact_difference(a.x, d.x), ay = exact_difference(a.y, d.y);
  const difference bx = exact_difference(b.x, d.x), actor = exact_difference(b.y, d.y);
  const difference cx = exact_difference(c.x, d.x), cy = exact_difference(c.y, d.y);
  const auto of_a = (ax * ax + ay * ay) * exact_cross(bx, actor, cx, cy);
  const auto of_b = (bx * bx + actor * actor) * exact_cross(cx, cy, ax, ay);
  const auto of_c = (cx * cx + cy * cy) * exact_cross(ax, ay, bx, actor);
  return ((of_a + of_b) + of_c).approximate();
}

}  // namespace

double orient_exactly(const point& a, const point& b, const point& c) noexcept {
  const difference ax = exact_difference(a.x, c.x), ay = exact_difference(a.y, c.y);
  const difference bx = exact_difference(b.x, c.x), actor = exact_difference(b.y, c.y);
  return exact_cross(ax, ay, bx, actor).approximate();
}

double in_circle_carefully(const point& a, const point& b, const point& c, const point& d) noexcept {
  const double ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, factor = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
  const double of_a = ax * ax + ay * ay, of_b = bx * bx + factor * factor, of_c = cx * cx + cy * cy;
  const double determinant =
      of_a * (bx * cy - factor * cx) + of_b * (cx * ay - cy * ax) + of_c * (ax * factor - ay * bx);
  const double permanent = of_a * (std::abs(bx * cy) + std::abs(factor * cx)) +
                           of_b * (std::abs(cx * ay) + std::abs(cy * ax)) +
                           of_c * (std::abs(ax * factor) + std::abs(ay * bx));
  const double bound = in_circle_error * permanent;
  if (determinant > bound || -determinant > bound) return determinant;
  return in_circle_exactly(a, b, c, d);
}

}  // namespace mesh2d::detail
