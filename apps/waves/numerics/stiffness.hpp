// SPDX-License-Identifier: Apache-2.0
// What a material is at a point.
#pragma once

namespace waves {

/// Isotropic: Lame's parameters in Pa, the density in kg/m^3.
struct isotropic {
  double lambda = 0, mu = 0, rho = 1;
  [[nodiscard]] static isotropic of_speeds(double vp, double vs, double density) noexcept {
    return {density * (vp * vp - 2 * vs * vs), density * vs * vs, density};
  }
  [[nodiscard]] double normal() const noexcept { return lambda + 2 * mu; }
};

/// Alike in all directions of the plane: sigma_xx = c11 u_x + c12 v_y + c13 w_z, sigma_zz = c13 (u_x + v_y) + c33 w_z,
/// sigma_xy = c66 (u_y + v_x), sigma_xz = c44 (u_z + w_x).
struct stiffness {
  double c11 = 0, c12 = 0, c13 = 0, c33 = 0, c44 = 0, c66 = 0, rho = 1;
  stiffness() = default;
  explicit stiffness(const isotropic& isotropic) noexcept
      : c11(isotropic.normal()),
        c12(isotropic.lambda),
        c13(isotropic.lambda),
        c33(isotropic.normal()),
        c44(isotropic.mu),
        c66(isotropic.mu),
        rho(isotropic.rho) {}
};

}  // namespace waves
