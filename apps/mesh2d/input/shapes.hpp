// SPDX-License-Identifier: Apache-2.0
// The built-in shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/pslg.hpp"

namespace mesh2d {

/// The names that make_shape knows.
const std::vector<std::string>& shape_names();
/// `seed` matters for "random" only. Throws nacre::setup_error for an unknown name.
pslg make_shape(const std::string& name, std::uint64_t seed);

}  // namespace mesh2d
