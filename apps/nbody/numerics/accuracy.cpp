// SPDX-License-Identifier: Apache-2.0
// The table of parameters, measured with Plummer spheres of 100,000 and 1 million bodies.
#include "accuracy.hpp"

namespace nbody {

accuracy accuracy_for(double error) {
  if (error >= 1e-3)
    return {.order = 4, .source_angle = 0.55, .target_angle = 0.5, .leaf_bodies = 64, .refined = false};
  if (error >= 1e-4)
    return {.order = 5, .source_angle = 0.43, .target_angle = 0.43, .leaf_bodies = 64, .refined = true};
  if (error >= 1e-5) return {.order = 6, .source_angle = 0.4, .target_angle = 0.38, .leaf_bodies = 96, .refined = true};
  return {.order = 6, .source_angle = 0.28, .target_angle = 0.28, .leaf_bodies = 96, .refined = true};
}

}  // namespace nbody
