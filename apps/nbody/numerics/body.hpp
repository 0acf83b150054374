// SPDX-License-Identifier: Apache-2.0
// A body, and places in space.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace nbody {

using vector3 = std::array<double, 3>;

inline vector3 operator+(const vector3& a, const vector3& b) noexcept {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline vector3 operator-(const vector3& a, const vector3& b) noexcept {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline vector3 operator*(double factor, const vector3& a) noexcept {
  return {factor * a[0], factor * a[1], factor * a[2]};
}
inline double dot(const vector3& a, const vector3& b) noexcept { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double length(const vector3& a) noexcept { return std::sqrt(dot(a, a)); }
inline vector3 cross(const vector3& a, const vector3& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct body {
  vector3 place{}, velocity{};
  double mass = 0;
  std::uint32_t number = 0;  ///< of the body, for ever
  std::uint32_t rung = 0;    ///< the body's own step is the longest / 2^rung
};
static_assert(sizeof(body) == 64);

}  // namespace nbody
