// SPDX-License-Identifier: Apache-2.0
// A solution that is made up, in smooth materials that are made up (after section 6 of Sjogreen and Petersson, J. Sci.
// Comput. 52 (2012) 17): forces and tractions follow from it.
#pragma once

#include "harmonic_motion.hpp"

namespace waves {

[[nodiscard]] isotropic manufactured_material(const position& position);
/// A bound of (4 mu + lambda)/rho.
[[nodiscard]] double manufactured_speed_squared() noexcept;

class manufactured_solution final : public harmonic_motion {
 public:
  [[nodiscard]] double frequency() const override;
  [[nodiscard]] harmonic_values at(const position& position) const override;
  [[nodiscard]] bool is_forced() const override { return true; }
};

}  // namespace waves
