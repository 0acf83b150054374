// SPDX-License-Identifier: Apache-2.0
// Planes of the grid as VTK files and as pictures.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "output/files.hpp"
#include "pictures/png_file.hpp"

namespace waves {
namespace {

double size_at(const plane_points& plane, std::size_t point) {
  const float* u = &plane.values[3 * point];
  return std::sqrt(double{u[0]} * u[0] + double{u[1]} * u[1] + double{u[2]} * u[2]);
}

/// From white over blue and black to yellow, for 0 to 1.
void put_colour(double part, std::uint8_t* rgb) {
  constexpr double stops[4][3] = {{255, 255, 255}, {70, 130, 200}, {20, 20, 60}, {255, 200, 40}};
  const double place = std::clamp(part, 0.0, 1.0) * 3;
  const auto index = std::min<std::size_t>(static_cast<std::size_t>(place), 2);
  const double way = place - static_cast<double>(index);
  for (std::size_t k = 0; k < 3; ++k) {
    rgb[k] = static_cast<std::uint8_t>(std::lround(stops[index][k] * (1 - way) + stops[index + 1][k] * way));
  }
}

}  // namespace

double greatest_in(const plane_points& plane) {
  double most = 0;
  for (std::size_t point = 0; point < plane.values.size() / 3; ++point) most = std::max(most, size_at(plane, point));
  return most;
}

std::string vti_bytes(const plane_points& plane) {
  const bool is_level = plane.down == 'y';
  const int y = is_level ? plane.rows : 1, z = is_level ? 1 : plane.rows;
  const std::uint64_t size = plane.values.size() * sizeof(float);
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"0 {0} 0 {1} 0 {2}\" Origin=\"{3} {4} {5}\" Spacing=\"{6} {6} "
      "{6}\">\n"
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{7:.17g}"
      "</DataArray>\n</FieldData>\n"
      "<Piece Extent=\"0 {0} 0 {1} 0 {2}\">\n<PointData Vectors=\"displacement\">\n<DataArray type=\"Float32\" "
      "Name=\"displacement\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>\n</PointData>\n</Piece>\n"
      "</ImageData>\n<AppendedData encoding=\"raw\">_",
      plane.columns - 1, y - 1, z - 1, plane.left, is_level ? plane.top : plane.depth,
      is_level ? plane.depth : plane.top, plane.spacing, plane.time);
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text.append(reinterpret_cast<const char*>(plane.values.data()), size);
  return text + "\n</AppendedData>\n</VTKFile>\n";
}

std::string plane_png(const plane_points& plane) {
  const std::size_t points = plane.values.size() / 3;
  const double most = plane.greatest;
  std::vector<std::uint8_t> rgb(3 * points);
  for (std::size_t point = 0; point < points; ++point) {
    put_colour(most > 0 ? std::sqrt(size_at(plane, point) / most) : 0, &rgb[3 * point]);
  }
  return pictures::png_bytes(rgb, static_cast<std::uint32_t>(plane.columns), static_cast<std::uint32_t>(plane.rows));
}

}  // namespace waves
