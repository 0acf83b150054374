// SPDX-License-Identifier: Apache-2.0
// Lamb's problem: the response to a step, convolved with the slope of the force.
#include <cmath>
#include <numbers>

#include "compare/reference.hpp"

namespace waves {
namespace {

const double root3 = std::numbers::sqrt3;
const double p_time = 1 / root3, s_time = 1, rayleigh_time = std::sqrt(3 + root3) / 2;  // times vs / r

/// Between the S wave and Rayleigh's, and between the P wave and the S wave; times pi mu r / force.
double behind_s(double tau) {
  return (6 - std::sqrt(3 * root3 + 5) / std::sqrt(rayleigh_time * rayleigh_time - tau * tau)) / 16;
}
double behind_p(double tau) {
  const double square = tau * tau;
  return (6 - root3 / std::sqrt(square - 0.25) - std::sqrt(3 * root3 + 5) / std::sqrt(0.75 + root3 / 4 - square) +
          std::sqrt(3 * root3 - 5) / std::sqrt(square + root3 / 4 - 0.75)) /
         32;
}

double slope(const time_function& time_function, double t) {
  const double step = 1e-4 * time_function.width;
  return (8 * (time_function.value(t + step) - time_function.value(t - step)) -
          (time_function.value(t + 2 * step) - time_function.value(t - 2 * step))) /
         (12 * step);
}

/// The integral by the midpoint rule.
template <class Function>
double integral(double begin, double end, Function&& function) {
  constexpr int parts = 4000;
  const double width = (end - begin) / parts;
  double sum = 0;
  for (int k = 0; k < parts; ++k) sum += function(begin + (k + 0.5) * width);
  return sum * width;
}

}  // namespace

trace lamb_motion(const lamb_setting& setting, double dt, int count) {
  const double vs = std::sqrt(setting.material.mu / setting.material.rho), scale = setting.distance / vs;
  trace result{0, dt, {}};
  for (int k = 0; k < count; ++k) {
    const double t = k * dt;
    const auto push = [&](double tau) { return slope(setting.time, t - tau * scale) * scale; };
    double sum = integral(p_time, s_time, [&](double tau) { return behind_p(tau) * push(tau); });
    // tau = rayleigh_time - q^2 takes the singularity away.
    sum += integral(0, std::sqrt(rayleigh_time - s_time), [&](double q) {
      const double tau = rayleigh_time - q * q;
      return 2 * q * behind_s(tau) * push(tau);
    });
    sum += 3.0 / 8 * setting.time.value(t - rayleigh_time * scale);
    result.values.push_back(sum * setting.force / (std::numbers::pi * setting.material.mu * setting.distance));
  }
  return result;
}

}  // namespace waves
