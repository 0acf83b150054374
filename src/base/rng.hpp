// SPDX-License-Identifier: Apache-2.0
// The generator that the layers draw from, which is also the balancers'.
#pragma once

#include <nacre/rng.hpp>  // IWYU pragma: export
