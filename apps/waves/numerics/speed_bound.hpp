// SPDX-License-Identifier: Apache-2.0
// How fast waves can be as far as the step in time is concerned, and how slow for their length.
#pragma once

#include "grid.hpp"
#include "model.hpp"

namespace waves {

/// The squared speed v^2 for which dt = 1.3 h/v is stable. It is the greatest (4 mu + lambda)/rho of a material, unless
/// one of these asks for more:
/// - Vp > 3.09 Vs under a free surface, whose stencils bear less of such a material.
/// - A light material beside a stiff one: the points next to their border have the forces of one and the mass of the
///   other. They ask for a part of the stiff moduli over the light density, the greater part where something is thin.
/// Both parts are above all that the greatest eigenvalue of the operator was found to ask for, in 5,000 grids with two
/// random materials each (0.50 of moduli over density for parts of four points and more, 0.81 for others).
[[nodiscard]] double greatest_speed_squared(const model& material, top_side top);

/// The speed of shear waves in the softest of the materials that a model describes, whose waves are the shortest.
[[nodiscard]] double least_shear_speed(const model& material);

}  // namespace waves
