// SPDX-License-Identifier: Apache-2.0
// Writes Triangle's .poly files.
#pragma once

#include <ostream>
#include <string>

#include "input/pslg.hpp"

namespace mesh2d {

/// read_poly reads the same points, segments, holes and regions from it, bit for bit. Points are numbered from the name
/// of the first one, and all else from 1.
void write_poly(const pslg& input, std::ostream& stream);
/// Throws std::runtime_error, with the file, when that fails.
void write_poly(const pslg& input, const std::string& path);

/// Throws nacre::setup_error for a name that has another ending, or that names a file of the input or of the output.
void check_poly_name(const std::string& path, const std::string& input, const std::string& out);

}  // namespace mesh2d
