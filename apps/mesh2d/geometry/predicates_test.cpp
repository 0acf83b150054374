// SPDX-License-Identifier: Apache-2.0
// The predicates against exact rational arithmetic.
#include "geometry/predicates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <nacre/rng.hpp>

namespace mesh2d {
namespace {

using exact = boost::multiprecision::cpp_rational;

int sign(const exact& value) { return value.sign(); }
int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

int exact_orient(const point& a, const point& b, const point& c) {
  return sign((exact(a.x) - c.x) * (exact(b.y) - c.y) - (exact(a.y) - c.y) * (exact(b.x) - c.x));
}

int exact_in_circle(const point& a, const point& b, const point& c, const point& d) {
  const exact ax = exact(a.x) - d.x, ay = exact(a.y) - d.y, bx = exact(b.x) - d.x, actor = exact(b.y) - d.y;
  const exact cx = exact(c.x) - d.x, cy = exact(c.y) - d.y;
  return sign(exact((ax * ax + ay * ay) * (bx * cy - actor * cx) + (bx * bx + actor * actor) * (cx * ay - cy * ax) +
                    (cx * cx + cy * cy) * (ax * actor - ay * bx)));
}

/// Points of one kind of trouble, by the kind's number.
struct troubled_points {
  nacre::rng random;

  double ulps(double value, int most) {
    for (int k = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * most + 1))) - most; k != 0;
         k += k < 0 ? 1 : -1) {
      value = std::nextafter(value, k < 0 ? -1e300 : 1e300);
    }
    return value;
  }
  double between(double low, double high) { return low + (high - low) * random.uniform(); }
  point anywhere() { return {between(-1, 1), between(-1, 1)}; }
  point on_grid() { return {std::floor(between(0, 6)), std::floor(between(0, 6))}; }
  point near_line(const point& a, const point& b) {
    const double t = between(-2, 3);
    return {ulps(a.x + (b.x - a.x) * t, 2), ulps(a.y + (b.y - a.y) * t, 2)};
  }
  /// On the circle of radius 65 around the origin, which has many points with whole coordinates; or an ulp beside it.
  point near_circle(int most) {
    constexpr std::array<point, 9> whole{
        {{65, 0}, {63, 16}, {60, 25}, {56, 33}, {52, 39}, {39, 52}, {33, 56}, {25, 60}, {16, 63}}};
    point position = whole[random.below(whole.size())];
    if (random.below(2) != 0) position.x = -position.x;
    if (random.below(2) != 0) position.y = -position.y;
    if (random.below(2) != 0) std::swap(position.x, position.y);
    return {ulps(position.x, most), ulps(position.y, most)};
  }
  point moved(const point& position, double scale, double offset) const {
    return {position.x * scale + offset, position.y * scale + offset};
  }
};

TEST(Predicates, orient_agrees_with_rational_arithmetic) {
  troubled_points give{nacre::rng(1)};
  int zeros = 0, nearly = 0;
  for (int k = 0; k < 6000; ++k) {
    point a = give.anywhere(), b = give.anywhere(), c = give.anywhere();
    if (k % 4 == 1) c = give.near_line(a, b);
    if (k % 4 == 2) a = give.on_grid(), b = give.on_grid(), c = give.on_grid();
    if (k % 4 == 3) {
      const double scale = std::pow(10, give.between(-45, 45)), offset = k % 8 == 3 ? 0 : scale * 1e7;
      c = give.near_line(a, b);
      a = give.moved(a, scale, offset), b = give.moved(b, scale, offset), c = give.moved(c, scale, offset);
    }
    const int expected = exact_orient(a, b, c);
    ASSERT_EQ(sign(orient(a, b, c)), expected) << k;
    ASSERT_EQ(sign(orient(b, a, c)), -expected) << k;
    ASSERT_EQ(sign(detail::orient_exactly(a, b, c)), expected) << k;
    zeros += expected == 0;
    nearly += expected != 0 && k % 4 == 1;
  }
  EXPECT_GT(zeros, 150);
  EXPECT_GT(nearly, 300);
}

TEST(Predicates, in_circle_agrees_with_rational_arithmetic) {
  troubled_points give{nacre::rng(2)};
  int zeros = 0, differing = 0;
  for (int k = 0; k < 6000; ++k) {
    point a = give.anywhere(), b = give.anywhere(), c = give.anywhere(), d = give.anywhere();
    if (k % 4 == 1) a = give.on_grid(), b = give.on_grid(), c = give.on_grid(), d = give.on_grid();
    if (k % 4 >= 2) {
      const int most = k % 4 == 2 ? 0 : 1;
      a = give.near_circle(most), b = give.near_circle(most), c = give.near_circle(most), d = give.near_circle(most);
      const double scale = std::pow(2.0, std::floor(give.between(-120, 120))), offset = k % 8 < 4 ? 0 : scale * 1024;
      a = give.moved(a, scale, offset), b = give.moved(b, scale, offset), c = give.moved(c, scale, offset);
      d = give.moved(d, scale, offset);
    }
    if (exact_orient(a, b, c) < 0) std::swap(a, b);
    if (exact_orient(a, b, c) == 0) continue;
    const int expected = exact_in_circle(a, b, c, d);
    ASSERT_EQ(sign(in_circle(a, b, c, d)), expected) << k;
    ASSERT_EQ(sign(detail::in_circle_carefully(a, b, c, d)), expected) << k;
    zeros += expected == 0;
    differing += expected != 0 && k % 4 == 3;
  }
  EXPECT_GT(zeros, 300);
  EXPECT_GT(differing, 300);
}

}  // namespace
}  // namespace mesh2d
