// SPDX-License-Identifier: Apache-2.0
// What the walk needs for a wanted error of the forces.
#pragma once

#include <cstdint>

#include "walk.hpp"

namespace nbody {

/// Softening of the force between bodies.
struct softening {
  double length = 0;
  softening_shape shape = softening_shape::plummer;
};

/// The tree's parameters.
struct accuracy {
  int order = 3;
  double source_angle = 0.5;  ///< the largest radius / distance of a source
  double target_angle = 0.2;  ///< of a target
  std::uint32_t leaf_bodies = 64;
  bool refined = false;  ///< see walk_rules

  template <class Archive>
  void serialize(Archive& ar) {
    ar(order, source_angle, target_angle, leaf_bodies, refined);
  }
};

/// Parameters whose root mean square error stays below `error`, between 1e-2 and error_min.
[[nodiscard]] accuracy accuracy_for(double error);

inline constexpr double error_min = 1e-6;

}  // namespace nbody
