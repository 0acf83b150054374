// SPDX-License-Identifier: Apache-2.0
// The predicates against exact rational arithmetic.
#include "geometry/predicates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nacre/rng.hpp>

namespace mesh3d {
namespace {

using exact = boost::multiprecision::cpp_rational;
using exact_row = std::array<exact, 3>;

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

exact_row difference(const point& a, const point& b) { return {exact(a.x) - b.x, exact(a.y) - b.y, exact(a.z) - b.z}; }

exact determinant(const exact_row& u, const exact_row& v, const exact_row& w) {
  return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

int exact_orient(const point& a, const point& b, const point& c, const point& d) {
  return determinant(difference(b, a), difference(c, a), difference(d, a)).sign();
}

/// By the coordinates of the sphere's centre, times the determinant that the three planes between the points have.
int exact_in_sphere(const point& a, const point& b, const point& c, const point& d, const point& e) {
  const exact_row u = difference(b, a), v = difference(c, a), w = difference(d, a), x = difference(e, a);
  const auto square = [](const exact_row& r) { return exact(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]); };
  const exact whole = determinant(u, v, w);
  exact_row centre;  // twice the centre, times `whole`
  for (unsigned k = 0; k < 3; ++k) {
    exact_row p = u, q = v, r = w;
    p[k] = square(u), q[k] = square(v), r[k] = square(w);
    centre[k] = determinant(p, q, r);
  }
  const exact power = whole * square(x) - (x[0] * centre[0] + x[1] * centre[1] + x[2] * centre[2]);
  return -power.sign() * whole.sign();
}

/// Draws points that are hard for the predicates in one of several ways.
struct troubled_points {
  nacre::rng random;

  double between(double low, double high) { return low + (high - low) * random.uniform(); }
  point anywhere() { return {between(-1, 1), between(-1, 1), between(-1, 1)}; }
  point on_grid() { return {std::floor(between(0, 4)), std::floor(between(0, 4)), std::floor(between(0, 4))}; }
  double beside(double value, int most) {
    for (std::uint64_t k = random.below(static_cast<std::uint64_t>(most) + 1); k > 0 && value != 0; --k) {
      value = std::nextafter(value, random.below(2) != 0 ? 1e9 : -1e9);
    }
    return value;
  }
  /// On the sphere of radius 15 around the origin, which has many whole points, or some ulps beside it.
  point near_sphere(int most) {
    constexpr std::array<point, 5> whole{{{15, 0, 0}, {12, 9, 0}, {14, 5, 2}, {11, 10, 2}, {10, 10, 5}}};
    point position = whole[random.below(whole.size())];
    if (random.below(2) != 0) std::swap(position.x, position.y);
    if (random.below(2) != 0) std::swap(position.y, position.z);
    if (random.below(2) != 0) position.x = -position.x;
    if (random.below(2) != 0) position.y = -position.y;
    if (random.below(2) != 0) position.z = -position.z;
    return {beside(position.x, most), beside(position.y, most), beside(position.z, most)};
  }
  point near_plane(const point& a, const point& b, const point& c) {
    const double s = between(-1, 2), t = between(-1, 2);
    const point position = a + (b - a) * s + (c - a) * t;
    return {beside(position.x, 2), beside(position.y, 2), beside(position.z, 2)};
  }
};

TEST(Predicates, orient_agrees_with_rational_arithmetic) {
  troubled_points give{nacre::rng(1)};
  int zeros = 0, differing = 0;
  for (int k = 0; k < 2400; ++k) {
    point a = give.anywhere(), b = give.anywhere(), c = give.anywhere(), d = give.anywhere();
    if (k % 3 == 1) d = give.near_plane(a, b, c);
    if (k % 3 == 2) a = give.on_grid(), b = give.on_grid(), c = give.on_grid(), d = give.on_grid();
    const double scale = std::ldexp(1, static_cast<int>(give.random.below(40)) - 20), offset = k % 2 == 0 ? 0 : scale;
    for (point* each : {&a, &b, &c, &d}) *each = *each * scale + point{offset, offset * 3, 0};
    const int expected = exact_orient(a, b, c, d);
    ASSERT_EQ(sign(orient(a, b, c, d)), expected) << k;
    ASSERT_EQ(sign(orient(b, a, c, d)), -expected) << k;
    ASSERT_EQ(sign(detail::orient_exactly(a, b, c, d)), expected) << k;
    zeros += expected == 0;
    differing += expected != 0 && k % 3 == 1;
  }
  EXPECT_GT(zeros, 80);
  EXPECT_GT(differing, 500);
  EXPECT_GT(orient({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}), 0);
}

TEST(Predicates, in_sphere_agrees_with_rational_arithmetic) {
  troubled_points give{nacre::rng(2)};
  int zeros = 0, differing = 0;
  for (int k = 0; k < 1600; ++k) {
    std::array<point, 5> p;
    const int most = k % 4 == 2 ? 0 : 1;
    for (point& each : p) each = k % 4 == 0 ? give.anywhere() : k % 4 == 1 ? give.on_grid() : give.near_sphere(most);
    const double scale = std::ldexp(1, static_cast<int>(give.random.below(20)) - 10), offset = k % 8 < 4 ? 0 : 64;
    for (point& each : p) each = each * scale + point{offset, 0, offset * 2};
    if (exact_orient(p[0], p[1], p[2], p[3]) < 0) std::swap(p[0], p[1]);
    if (exact_orient(p[0], p[1], p[2], p[3]) == 0) continue;
    const int expected = exact_in_sphere(p[0], p[1], p[2], p[3], p[4]);
    ASSERT_EQ(sign(in_sphere(p[0], p[1], p[2], p[3], p[4])), expected) << k;
    ASSERT_EQ(sign(detail::in_sphere_carefully(p[0], p[1], p[2], p[3], p[4])), expected) << k;
    ASSERT_EQ(sign(detail::in_sphere_exactly(p[0], p[1], p[2], p[3], p[4])), expected) << k;
    zeros += expected == 0;
    differing += expected != 0 && k % 4 == 3;
  }
  EXPECT_GT(zeros, 100);
  EXPECT_GT(differing, 100);
  EXPECT_GT(in_sphere({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0.5, 0.5}), 0);
}

/// The tie as it is meant: lifts of 2^-20, 2^-40, ... instead of infinitely small ones, by rational arithmetic.
int lifted_in_sphere(const std::array<point, 5>& p) {
  std::array<std::array<exact, 4>, 5> row;
  for (unsigned k = 0; k < 5; ++k) {
    const exact x = p[k].x, y = p[k].y, z = p[k].z;
    unsigned greater = 0;
    for (const point& other : p) greater += other > p[k];
    row[k] = {x, y, z, x * x + y * y + z * z + 1 / exact(boost::multiprecision::cpp_int(1) << (20 * (greater + 1)))};
  }
  std::array<exact_row, 3> edge;
  std::array<exact, 4> lift;
  exact_row last;
  for (unsigned k = 0; k < 3; ++k) last[k] = row[4][k] - row[0][k];
  for (unsigned i = 0; i < 3; ++i) {
    for (unsigned k = 0; k < 3; ++k) edge[i][k] = row[i + 1][k] - row[0][k];
    lift[i] = row[i + 1][3] - row[0][3];
  }
  const exact whole = determinant(edge[0], edge[1], edge[2]);
  exact above = (row[4][3] - row[0][3]) * whole;  // less the height of the lifted corners' plane there
  for (unsigned k = 0; k < 3; ++k) {
    std::array<exact_row, 3> exact_rows = edge;
    for (unsigned i = 0; i < 3; ++i) exact_rows[i][k] = lift[i];
    above -= last[k] * determinant(exact_rows[0], exact_rows[1], exact_rows[2]);
  }
  return -above.sign() * whole.sign();
}

TEST(Predicates, ties_are_decided_as_by_small_lifts) {
  troubled_points give{nacre::rng(3)};
  int ties = 0;
  for (int k = 0; k < 1600; ++k) {
    std::array<point, 5> p;
    for (point& each : p) each = k % 2 == 0 ? give.on_grid() : give.near_sphere(0);
    bool distinct = true;
    for (unsigned i = 0; i < 5; ++i) {
      for (unsigned j = 0; j < i; ++j) distinct = distinct && p[i] != p[j];
    }
    if (exact_orient(p[0], p[1], p[2], p[3]) < 0) std::swap(p[0], p[1]);
    if (!distinct || exact_orient(p[0], p[1], p[2], p[3]) == 0) continue;
    ASSERT_EQ(sign(in_perturbed_sphere(p[0], p[1], p[2], p[3], p[4])), lifted_in_sphere(p)) << k;
    ties += in_sphere(p[0], p[1], p[2], p[3], p[4]) == 0;
  }
  EXPECT_GT(ties, 200);
}

}  // namespace
}  // namespace mesh3d
