// SPDX-License-Identifier: Apache-2.0
// Damping in the layers at the sides.
#pragma once

#include "operator_sweep.hpp"

namespace waves {

/// Adds (0.02/rho) sum over axes d of s_d c D2(rho p_d D2(u - previous)) to `previous`; D2 is the undivided second
/// difference, s the stretching, p the profile, c the taper of the other axes. An advance by 2u - previous + ... then
/// takes it away from the new displacement. Both fields have their halos. `room` is overwritten.
void damp(const sweep_domain& domain, const rows& u, rows& previous, scratch& room);

}  // namespace waves
