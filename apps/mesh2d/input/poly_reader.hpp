// SPDX-License-Identifier: Apache-2.0
// Reads Triangle's .poly files.
#pragma once

#include <istream>
#include <string>

#include "input/pslg.hpp"

namespace mesh2d {

/// Reads `FILE.poly`, and `FILE.node` when the former has no points. Attributes of points and markers are passed over.
/// Throws nacre::setup_error with file and line.
pslg read_poly(const std::string& path);

/// Reads a .poly file from `poly`. The points come from `node`, named `node_name`, when the file has none and `node` is
/// not null.
pslg read_poly(std::istream& poly, const std::string& name, std::istream* node, const std::string& node_name);

}  // namespace mesh2d
