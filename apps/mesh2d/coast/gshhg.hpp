// SPDX-License-Identifier: Apache-2.0
// The coastlines of GSHHG, in the "binned" netCDF files that the Generic Mapping Tools use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mesh2d {

/// A place on a grid of whole numbers.
struct grid_point {
  std::int64_t x = 0, y = 0;
  auto operator<=>(const grid_point&) const = default;
};

/// A stretch of a coast within one bin, with land to its left.
struct coast_line {
  double km2 = 0;  // the area of its polygon
  std::vector<grid_point> points{};
};

/// The coasts of the earth. A unit is a part of a degree: x grows eastwards from Greenwich and is below 360 degrees, y
/// grows northwards from the south pole.
struct coast_map {
  std::int64_t turn = 0;  // units in 360 degrees
  std::vector<coast_line> lines{};
};

/// All coordinates of a map are multiples of this.
inline constexpr std::int64_t coast_step = 16;

/// Reads coasts of land, lakes, islands in lakes and ponds in these; Antarctica by its ice front. Throws
/// nacre::setup_error for a file that is no such file, or whose numbers contradict each other.
[[nodiscard]] coast_map read_gshhg(const std::string& path);

/// The arrays of a file as they are.
struct gshhg_arrays {
  std::int64_t bin_minutes = 0, columns = 0, rows = 0;
  std::vector<int> first_segment{}, segments{};           // by bin
  std::vector<int> embedded{}, first_point{}, polygon{};  // by segment
  std::vector<int> x{}, y{};                              // by point
  std::vector<double> km2{};                              // by polygon
};

/// Judges the arrays and makes a map of them. `name` is for messages.
[[nodiscard]] coast_map map_of(const gshhg_arrays& read, const std::string& name);

}  // namespace mesh2d
