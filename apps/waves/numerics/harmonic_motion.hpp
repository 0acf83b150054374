// SPDX-License-Identifier: Apache-2.0
// Exact solutions u(x, t) = u0(x) cos(omega t) + u1(x) sin(omega t), which programs compute anew and compare with.
#pragma once

#include <array>

#include "model.hpp"

namespace waves {

using vector3 = std::array<double, 3>;

/// What happens at a point: displacement, body force, and traction on a plane that faces upwards, in pairs of the
/// factors of cos and sin.
struct harmonic_values {
  std::array<vector3, 2> displacement{};
  std::array<vector3, 2> force{};
  std::array<vector3, 2> traction{};  ///< sigma_xz, sigma_yz, sigma_zz
};

class harmonic_motion {
 public:
  virtual ~harmonic_motion() = default;
  [[nodiscard]] virtual double frequency() const = 0;  ///< omega, in 1/s
  [[nodiscard]] virtual harmonic_values at(const position& position) const = 0;
  /// Whether there are body forces and tractions.
  [[nodiscard]] virtual bool is_forced() const { return false; }
};

/// A plane P wave and a plane S wave in oblique directions in a uniform material.
class plane_waves final : public harmonic_motion {
 public:
  plane_waves(const isotropic& material, double wavelength_p);
  [[nodiscard]] double frequency() const override { return omega_; }
  [[nodiscard]] harmonic_values at(const position& position) const override;

 private:
  double omega_, kp_, ks_;
};

/// Rayleigh's wave along x on a uniform half space.
class rayleigh_wave final : public harmonic_motion {
 public:
  rayleigh_wave(const isotropic& material, double wavelength);
  [[nodiscard]] double frequency() const override { return omega_; }
  [[nodiscard]] harmonic_values at(const position& position) const override;
  /// Its speed in m/s.
  [[nodiscard]] double speed() const noexcept { return omega_ / k_; }

 private:
  double k_, omega_, decay_p_, decay_s_, part_s_;
};

}  // namespace waves
