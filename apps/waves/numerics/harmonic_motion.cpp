// SPDX-License-Identifier: Apache-2.0
// Plane waves, and Rayleigh's wave.
#include "harmonic_motion.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace waves {
namespace {

double dot(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// direction * sin(phase - omega t)
void add_wave(harmonic_values& values, const vector3& direction, double phase) {
  for (std::size_t number = 0; number < 3; ++number) {
    values.displacement[0][number] += direction[number] * std::sin(phase);
    values.displacement[1][number] -= direction[number] * std::cos(phase);
  }
}

/// Of Rayleigh's equation, the speed of the wave over that of S waves: a root between 0.8 and 1, by bisection.
double relative_speed(const isotropic& m) {
  const double ratio = m.mu / m.normal();  // (vs/vp)^2
  const auto function = [&](double c) {
    const double square = c * c;
    return (2 - square) * (2 - square) - 4 * std::sqrt((1 - ratio * square) * (1 - square));
  };
  double low = 0.8, high = 1;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (function(middle) < 0 ? low : high) = middle;
  }
  return low;
}

}  // namespace

plane_waves::plane_waves(const isotropic& material, double wavelength_p)
    : kp_(2 * std::numbers::pi / wavelength_p), ks_(0) {
  omega_ = kp_ * std::sqrt(material.normal() / material.rho);
  ks_ = omega_ / std::sqrt(material.mu / material.rho);
}

harmonic_values plane_waves::at(const position& position) const {
  constexpr vector3 along{2.0 / 7, 3.0 / 7, 6.0 / 7};    // of the P wave
  constexpr vector3 across{6.0 / 7, 2.0 / 7, -3.0 / 7};  // of the S wave, which moves along `side`
  constexpr vector3 side{3.0 / 7, -6.0 / 7, 2.0 / 7};
  harmonic_values values;
  add_wave(values, along, kp_ * dot(along, position));
  add_wave(values, side, ks_ * dot(across, position));
  return values;
}

rayleigh_wave::rayleigh_wave(const isotropic& material, double wavelength) : k_(2 * std::numbers::pi / wavelength) {
  const double relative = relative_speed(material);
  omega_ = k_ * relative * std::sqrt(material.mu / material.rho);
  decay_p_ = k_ * std::sqrt(1 - relative * relative * material.mu / material.normal());
  decay_s_ = k_ * std::sqrt(1 - relative * relative);
  part_s_ = (decay_s_ * decay_s_ + k_ * k_) / (2 * k_);  // makes sigma_xz vanish at z = 0
}

harmonic_values rayleigh_wave::at(const position& position) const {
  const double phase = k_ * position[0];
  const double p = std::exp(-decay_p_ * position[2]), s = std::exp(-decay_s_ * position[2]);
  // Of the potentials p sin(kx - wt) and (decay_p / part_s) s cos(kx - wt): amplitudes along x and z.
  const double along = k_ * p - decay_s_ * decay_p_ / part_s_ * s, down = decay_p_ * p - k_ * decay_p_ / part_s_ * s;
  harmonic_values values;
  values.displacement[0] = {along / k_ * std::cos(phase), 0, -down / k_ * std::sin(phase)};
  values.displacement[1] = {along / k_ * std::sin(phase), 0, down / k_ * std::cos(phase)};
  return values;
}

}  // namespace waves
