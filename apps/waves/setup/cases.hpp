// SPDX-License-Identifier: Apache-2.0
// The cases that are known by name.
#pragma once

#include <cstdint>

#include "setup/description.hpp"

namespace waves {

enum class known_case : std::uint8_t { none, loh1, lamb, plane_wave, rayleigh, manufactured };

/// The default of h, in metres.
[[nodiscard]] double usual_h(known_case known_case) noexcept;

struct loh1_options {
  double sigma = 0.06;   ///< seconds, of the moment's Gaussian
  bool is_near = false;  ///< a box of 16 x 18 x 9 km around source and receiver, instead of 30 x 30 x 17 km
};

/// LOH.1 (Day et al., PEER/SCEC Lifelines 1A01, 2001): a layer over a half space, a moment at 2 km. Lamb: a force on
/// the surface of a half space. The others have exact solutions on all points.
[[nodiscard]] description describe(known_case known_case, double h, const loh1_options& loh1);

/// Lamb's case: the distance of the receiver in m, the force in N, the material.
struct lamb_setting {
  double distance = 1000, force = 1e12;
  isotropic material;
  time_function time;
};
[[nodiscard]] lamb_setting lamb_of() noexcept;

}  // namespace waves
