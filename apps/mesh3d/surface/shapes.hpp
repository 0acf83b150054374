// SPDX-License-Identifier: Apache-2.0
// Built-in surfaces.
#pragma once

#include <optional>
#include <string>

#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// Their names, for messages and help.
inline constexpr const char* shape_names = "sphere, ellipsoid, torus, knot, shell, spheres, block";

/// A closed surface of some ten thousand triangles (the block has 12); nothing for an unknown name.
std::optional<surface_mesh> make_shape(const std::string& name);

}  // namespace mesh3d
