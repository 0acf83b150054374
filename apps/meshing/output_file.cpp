// SPDX-License-Identifier: Apache-2.0
// Writes whole files or throws, and meshes as .vtu files.
#include "meshing/output_file.hpp"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace meshing {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void write_file(const std::string& name, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream file(name, std::ios::binary);
  if (file) write(file);
  file.close();
  if (!file) {
    throw std::runtime_error(
        fmt::format("{} cannot be written: {}", name, errno != 0 ? std::strerror(errno) : "unknown error"));
  }
}

std::string colour_of(std::uint32_t number) {
  const double turn = 2.39996323 * number;
  const auto part = [&](double shift) { return static_cast<int>(205 + 45 * std::cos(turn + shift)); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(0), part(-2.0944), part(2.0944));
}

void write_vtu(vtu_content&& content, std::ostream& stream) {
  appended_arrays& arrays = content.arrays;
  const std::size_t cells = content.corners.size() / content.corners_a_cell;
  std::vector<std::int64_t> offsets;
  for (std::size_t k = 1; k <= cells; ++k) offsets.push_back(static_cast<std::int64_t>(k * content.corners_a_cell));
  stream << R"(<?xml version="1.0"?>)" << '\n'
         << R"(<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">)" << '\n'
         << fmt::format("<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
                        content.points.size() / 3, cells)
         << "<Points>\n"
         << arrays.declare("Float64", "Points", 3, content.points) << "</Points>\n<Cells>\n"
         << arrays.declare("Int32", "connectivity", 1, content.corners)
         << arrays.declare("Int64", "offsets", 1, offsets)
         << arrays.declare("UInt8", "types", 1, std::vector<std::uint8_t>(cells, content.cell_type)) << "</Cells>\n"
         << "<PointData>\n"
         << content.point_data << "</PointData>\n"
         << "<CellData Scalars=\"subdomain\">\n"
         << content.cell_data << "</CellData>\n"
         << "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_" << arrays.bytes()
         << "\n</AppendedData>\n</VTKFile>\n";
}

}  // namespace meshing
