// SPDX-License-Identifier: Apache-2.0
// Mesh files.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "parallel/mesher.hpp"

namespace mesh2d {

/// VTK's XML format for unstructured grids, for ParaView: with the subdomain and the region's attribute of each
/// triangle. Arrays are appended in binary, in the byte order of this machine.
void write_vtu(const whole_mesh& mesh, std::ostream& stream);
/// A picture: a colour for each subdomain.
void write_svg(const whole_mesh& mesh, std::ostream& stream);
/// Triangle's formats. Numbers begin at 1; the marker of a point is 1 on input segments; triangles have their region's
/// attribute.
void write_node(const whole_mesh& mesh, std::ostream& stream);
void write_ele(const whole_mesh& mesh, std::ostream& stream);

/// A picture in pixels.
void write_png(const picture& drawn, const std::string& out);

/// Whether `out` names a picture in pixels, for which no mesh is gathered.
[[nodiscard]] bool is_png(const std::string& out);
/// The files that `out` means; none if it is empty.
[[nodiscard]] std::vector<std::string> files_of(const std::string& out);
/// Throws nacre::setup_error for a name that no format has.
void check_output_name(const std::string& out, const std::string& input);
/// Writes the files that `out` means. Throws std::runtime_error, with the file, when that fails.
void write_mesh(const whole_mesh& mesh, const std::string& out);

}  // namespace mesh2d
