// SPDX-License-Identifier: Apache-2.0
// Values and second derivatives of time functions.
#include "time_function.hpp"

#include <cmath>
#include <numbers>

namespace waves {
namespace {

double bump_factor() { return 51480; }  // makes the area that of its width

}  // namespace

double time_function::value(double t) const {
  const double s = (t - start) / width;
  switch (kind) {
    case shape::gaussian:
      return std::exp(-s * s / 2) / (width * std::sqrt(2 * std::numbers::pi));
    case shape::gaussian_integral:
      return (1 + std::erf(s / std::numbers::sqrt2)) / 2;
    case shape::ricker:
      return (1 - 2 * s * s) * std::exp(-s * s);
    case shape::brune:
      return s <= 0 ? 0 : 1 - (1 + s) * std::exp(-s);
    case shape::smooth_bump:
      return s <= 0 || s >= 1 ? 0 : bump_factor() * std::pow(s * (1 - s), 7);
  }
  return 0;
}

double time_function::second_derivative(double t) const {
  const double s = (t - start) / width, per_square = 1 / (width * width);
  switch (kind) {
    case shape::gaussian:
      return (s * s - 1) * per_square * value(t);
    case shape::gaussian_integral:
      return -s * per_square * std::exp(-s * s / 2) / std::sqrt(2 * std::numbers::pi);
    case shape::ricker:
      return (-6 + 24 * s * s - 8 * s * s * s * s) * per_square * std::exp(-s * s);
    case shape::brune:
      return s <= 0 ? 0 : (1 - s) * std::exp(-s) * per_square;
    case shape::smooth_bump: {
      if (s <= 0 || s >= 1) return 0;
      const double product = s * (1 - s), slope = 1 - 2 * s;
      return bump_factor() * per_square * (42 * std::pow(product, 5) * slope * slope - 14 * std::pow(product, 6));
    }
  }
  return 0;
}

double time_function::peak() const {
  switch (kind) {
    case shape::gaussian:
      return value(start);
    case shape::smooth_bump:
      return value(start + width / 2);
    case shape::gaussian_integral:
    case shape::ricker:
    case shape::brune:
      break;
  }
  return 1;
}

double time_function::highest_frequency() const {
  switch (kind) {
    case shape::gaussian:
    case shape::gaussian_integral:
      return 2.5 / (2 * std::numbers::pi * width);
    case shape::ricker:
      return 2.5 / (std::numbers::pi * width);
    case shape::brune:
      return 4 / (2 * std::numbers::pi * width);
    case shape::smooth_bump:
      return 2.5 / width;
  }
  return 0;
}

const std::vector<std::string>& time_function_names() {
  static const std::vector<std::string> names{"gaussian", "gaussian_integral", "ricker", "brune", "smooth_bump"};
  return names;
}

}  // namespace waves
