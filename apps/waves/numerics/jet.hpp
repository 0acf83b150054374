// SPDX-License-Identifier: Apache-2.0
// A value with its first and second derivatives in space, which products carry along.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace waves {

struct jet {
  double value = 0;
  std::array<double, 3> first{};
  std::array<std::array<double, 3>, 3> second{};
};

/// sin(rate * x_axis + shift)
[[nodiscard]] inline jet sine(std::size_t axis, double time, double rate, double shift) {
  jet result;
  result.value = std::sin(rate * time + shift);
  result.first[axis] = rate * std::cos(rate * time + shift);
  result.second[axis][axis] = -rate * rate * result.value;
  return result;
}

[[nodiscard]] inline jet operator*(const jet& f, const jet& g) {
  jet result;
  result.value = f.value * g.value;
  for (std::size_t i = 0; i < 3; ++i) {
    result.first[i] = f.first[i] * g.value + f.value * g.first[i];
    for (std::size_t j = 0; j < 3; ++j) {
      result.second[i][j] =
          f.second[i][j] * g.value + f.first[i] * g.first[j] + f.first[j] * g.first[i] + f.value * g.second[i][j];
    }
  }
  return result;
}

/// scale * (shift + f)
[[nodiscard]] inline jet scaled(double scale, double shift, jet f) {
  f.value = scale * (shift + f.value);
  for (std::size_t i = 0; i < 3; ++i) {
    f.first[i] *= scale;
    for (double& each : f.second[i]) each *= scale;
  }
  return f;
}

}  // namespace waves
