// SPDX-License-Identifier: Apache-2.0
// Reads surfaces: OFF, STL (as text or binary), OBJ.
#pragma once

#include <istream>
#include <string>

#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// By the ending of the name: .off, .stl or .obj. Polygons are cut into triangles from their first corner. A point of
/// an STL file that is no further from an earlier one than 1e-7 of the diagonal of the box around all becomes that one.
/// Throws nacre::setup_error with file and line (or byte).
surface_mesh read_surface(const std::string& path);

/// Whether a name ends like a surface file.
bool names_surface_file(const std::string& input);

/// `name` is for messages.
surface_mesh read_off(std::istream& stream, const std::string& name);
/// A line that ends in a backslash is continued in the next one.
surface_mesh read_obj(std::istream& stream, const std::string& name);
/// A file that begins with "solid" is text, unless its length is that of a binary file with the number of triangles
/// that it would have.
surface_mesh read_stl(std::istream& stream, const std::string& name);

}  // namespace mesh3d
