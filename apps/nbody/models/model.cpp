// SPDX-License-Identifier: Apache-2.0
// Samples bodies of spheres in equilibrium and of simple bodies at rest.
#include "models/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nacre/nacre.hpp>
#include <numbers>
#include <vector>

namespace nbody {
namespace {

vector3 on_sphere(nacre::rng& random, double radius) {
  const double z = 2 * random.uniform() - 1, angle = 2 * std::numbers::pi * random.uniform(),
               flat = std::sqrt(1 - z * z);
  return {radius * flat * std::cos(angle), radius * flat * std::sin(angle), radius * z};
}

/// Aarseth, Henon and Wielen (Astron. Astrophys. 37 (1974) 183).
body plummer(nacre::rng& random) {
  const double inside = 0.999 * random.uniform();
  const double radius = 1 / std::sqrt(std::pow(std::max(inside, 1e-30), -2.0 / 3) - 1);
  double part = 0, height = 0;  // of the speed of escape; density of speeds q^2 (1 - q^2)^(7/2), below 0.1
  do {
    part = random.uniform(), height = 0.1 * random.uniform();
  } while (height > part * part * std::pow(1 - part * part, 3.5));
  const double escape = std::numbers::sqrt2 * std::pow(1 + radius * radius, -0.25);
  body result;
  result.place = on_sphere(random, radius), result.velocity = on_sphere(random, part * escape);
  return result;
}

/// Density of the phase space at energy -q^2, without its constant (Hernquist, Astrophys. J. 356 (1990) 359, eq. 17).
double hernquist_density(double q) {
  const double rest = 1 - q * q;
  return (3 * std::asin(q) + q * std::sqrt(rest) * (1 - 2 * q * q) * (8 * q * q * q * q - 8 * q * q - 3)) /
         std::pow(rest, 2.5);
}

constexpr double hernquist_mass = 0.96;  // of that of the whole sphere, whose field the speeds are for

body hernquist(nacre::rng& random) {
  const double root = std::sqrt(hernquist_mass * random.uniform()), radius = root / (1 - root);
  const double depth = 1 / (1 + radius), escape = std::sqrt(2 * depth);
  const auto density = [&](double part) {
    return part * part * hernquist_density(std::sqrt(depth * (1 - part * part)));
  };
  double largest = 0;
  for (int k = 1; k < 50; ++k) largest = std::max(largest, density(0.02 * k));
  double part = 0, height = 0;
  do {
    part = random.uniform(), height = 1.1 * largest * random.uniform();
  } while (height > density(part));
  body result;
  result.place = on_sphere(random, radius), result.velocity = on_sphere(random, part * escape);
  return result;
}

body collapsing(nacre::rng& random) {
  constexpr double rotation = 0.1;
  body result;
  result.place = on_sphere(random, std::cbrt(random.uniform()));
  result.velocity = {-rotation * result.place[1], rotation * result.place[0], 0};
  return result;
}

body in_cube(nacre::rng& random) {
  body result;
  for (double& each : result.place) each = random.uniform() - 0.5;
  return result;
}

/// Two spheres that meet at about the speed that they have after a fall from far away, not quite head on.
body colliding(nacre::rng& random, bool is_second) {
  constexpr vector3 place{3, 0.5, 0}, velocity{-0.35, 0, 0};
  body result = plummer(random);
  const double sign = is_second ? -1 : 1;
  result.place = result.place + sign * place, result.velocity = result.velocity + sign * velocity;
  return result;
}

body body_of(const model_settings& model, std::uint32_t number) {
  nacre::rng random = nacre::rng(model.seed).fork(number);
  switch (model.kind) {
    case model_kind::plummer:
      return plummer(random);
    case model_kind::collision:
      return colliding(random, number % 2 != 0);
    case model_kind::hernquist:
      return hernquist(random);
    case model_kind::collapse:
      return collapsing(random);
    default:
      return in_cube(random);
  }
}

double mass_of(model_kind kind) noexcept {
  if (kind == model_kind::hernquist) return hernquist_mass;
  return kind == model_kind::collision ? 2 : 1;
}

}  // namespace

std::vector<body> bodies_of_model(const model_settings& model, std::uint32_t first, std::uint32_t end) {
  const double mass = mass_of(model.kind);
  std::vector<body> bodies;
  if (model.kind == model_kind::file) return bodies;
  bodies.reserve(end - first);
  for (std::uint32_t number = first; number < end; ++number) {
    bodies.push_back(body_of(model, number));
    bodies.back().mass = mass / static_cast<double>(model.bodies), bodies.back().number = number;
  }
  return bodies;
}

}  // namespace nbody
