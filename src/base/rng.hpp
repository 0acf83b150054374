// SPDX-License-Identifier: Apache-2.0
// The random number generator of the layers, which is also the balancers'.
#pragma once

#include <nacre/rng.hpp>  // IWYU pragma: export
