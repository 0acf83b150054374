// SPDX-License-Identifier: Apache-2.0
// Derives forces and tractions of the made-up solution.
#include "manufactured.hpp"

#include <array>
#include <cstddef>
#include <numbers>

#include "jet.hpp"

namespace waves {
namespace {

constexpr double rate = 2 * std::numbers::pi;  // of the solution, in 1/m
constexpr double speed = 1.3;                  // of its phase
constexpr double shift = 0.4;
constexpr double quarter = std::numbers::pi / 2;
constexpr double material_rate = 3.1, material_shift = 0.2;

/// lambda, mu, rho
std::array<jet, 3> material_at(const position& position) {
  const auto wave = [&](std::size_t axis, double phase) {
    return sine(axis, position[axis], material_rate, material_shift + phase);
  };
  const jet rho = wave(0, 0) * wave(1, quarter) * wave(2, 0);
  const jet mu = wave(0, quarter) * wave(1, 0) * wave(2, 0);
  const jet lambda = wave(0, 0) * wave(1, 0) * wave(2, quarter);
  return {scaled(1, 3, lambda), scaled(1, 3, mu), scaled(1, 2, rho)};
}

/// The displacement where `phase` is omega t. Component k travels along axis k.
std::array<jet, 3> displacement(const position& position, double phase) {
  const auto wave = [&](std::size_t axis, double factor) { return sine(axis, position[axis], rate, factor); };
  return {wave(0, -phase) * wave(1, shift) * wave(2, shift), wave(0, shift) * wave(1, -phase) * wave(2, shift),
          wave(0, shift) * wave(1, shift) * wave(2, -phase)};
}

double divergence(const std::array<jet, 3>& u) { return u[0].first[0] + u[1].first[1] + u[2].first[2]; }

/// The component `i` of L u.
double elastic_force(const std::array<jet, 3>& u, const jet& lambda, const jet& mu, std::size_t i) {
  double sum = lambda.first[i] * divergence(u);
  for (std::size_t j = 0; j < 3; ++j) {
    sum += lambda.value * u[j].second[i][j];
    sum += mu.first[j] * (u[i].first[j] + u[j].first[i]) + mu.value * (u[i].second[j][j] + u[j].second[i][j]);
  }
  return sum;
}

}  // namespace

isotropic manufactured_material(const position& position) {
  const auto [lambda, mu, rho] = material_at(position);
  return {lambda.value, mu.value, rho.value};
}

double manufactured_speed_squared() noexcept { return 4 * 4 + 4; }  // rho >= 1, lambda and mu <= 4

double manufactured_solution::frequency() const { return rate * speed; }

harmonic_values manufactured_solution::at(const position& position) const {
  const auto [lambda, mu, rho] = material_at(position);
  harmonic_values values;
  for (std::size_t part = 0; part < 2; ++part) {
    const auto u = displacement(position, part == 0 ? 0 : quarter);
    for (std::size_t i = 0; i < 3; ++i) {
      values.displacement[part][i] = u[i].value;
      values.force[part][i] = -frequency() * frequency() * rho.value * u[i].value - elastic_force(u, lambda, mu, i);
      values.traction[part][i] = mu.value * (u[i].first[2] + u[2].first[i]);
    }
    values.traction[part][2] += lambda.value * divergence(u);
  }
  return values;
}

}  // namespace waves
