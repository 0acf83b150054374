// SPDX-License-Identifier: Apache-2.0
// A displacement of independent random numbers.
#pragma once

#include <cstdint>

#include "operator_sweep.hpp"

namespace waves {

/// Numbers from -1 to 1 that depend on the seed, the component and the point of the grid alone; halos as well, where
/// they are inside of the grid.
void set_random_state(rows& field, const sweep_domain& domain, std::uint64_t seed);

}  // namespace waves
