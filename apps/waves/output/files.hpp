// SPDX-License-Identifier: Apache-2.0
// Files of results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/seismogram.hpp"

namespace waves {

/// Time and three displacements in each line, behind a line that names them.
[[nodiscard]] std::string columns_text(const seismogram& motion, const std::vector<std::string>& names);

/// Where and when a source is.
struct sac_event {
  double origin = 0;              ///< seconds
  double depth = 0;               ///< km
  double distance = 0;            ///< km along the surface
  std::optional<double> azimuth;  ///< degrees from north (x), as the source sees the receiver; none above it
};
/// A file of the Seismic Analysis Code, version 6, little-endian, of one component.
struct sac_channel {
  std::string station, component;  ///< at most 8 letters
  double azimuth = 0;              ///< degrees from north (x)
  double inclination = 0;          ///< degrees from upwards
  double depth = 0;                ///< m, of the receiver
  std::optional<sac_event> event{};
};
/// Names of stations that have at most 8 letters, no two of them alike: the beginnings of longer ones, with a number
/// where one is taken.
[[nodiscard]] std::vector<std::string> station_codes(const std::vector<std::string>& names);
[[nodiscard]] std::string sac_bytes(const trace& values, const sac_channel& channel);

/// Three curves over time, with those of a reference drawn over them if it is not null.
[[nodiscard]] std::string svg_text(const seismogram& motion, const seismogram* reference,
                                   const std::vector<std::string>& names);

/// Points of a plane of the grid, rows of three displacements.
struct plane_points {
  int columns = 0, rows = 0;
  double spacing = 1;
  double left = 0, top = 0;       ///< metres of the first point
  char across = 'x', down = 'y';  ///< axes
  double time = 0;                ///< seconds
  double depth = 0;               ///< metres of the plane along the third axis
  double greatest = 0;            ///< displacement, in this plane and in those before it
  std::vector<float> values;
};
/// The greatest displacement.
[[nodiscard]] double greatest_in(const plane_points& plane);
/// VTK's XML format for images, with the displacement at each point.
[[nodiscard]] std::string vti_bytes(const plane_points& plane);
/// A picture of the size of displacements, beside the greatest one of the series. Throws std::runtime_error.
[[nodiscard]] std::string plane_png(const plane_points& plane);

}  // namespace waves
