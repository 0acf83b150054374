// SPDX-License-Identifier: Apache-2.0
// Reads rasters of lengths. All functions throw nacre::setup_error, with the file and the place in it, for a file that
// does not hold what its header promises, or a cell that is no length; they allocate no more than the file can hold.
#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "size/size_field.hpp"

namespace mesh2d {

/// An ESRI ASCII grid (Arc/Info).
raster_grid read_asc_raster(const std::string& path);
/// `bytes` is the size of the file.
raster_grid read_asc_raster(std::istream& stream, const std::string& name, std::uint64_t bytes);

/// A variable of two dimensions, of equal steps, in a netCDF file. An empty `variable` means the only one.
raster_grid read_netcdf_raster(const std::string& path, const std::string& variable);

/// The lengths that the greys of a picture stand for; those between are linear in the grey.
struct grey_scale {
  double black = 1, white = 1;
};

/// A picture in grey, PGM (P2 or P5). `lengths` are those of black and white, "BLACK,WHITE". The grid has no place yet.
raster_grid read_pgm_raster(const std::string& path, const std::string& lengths);
/// The content of such a file.
raster_grid read_pgm_raster(const std::string& bytes, const std::string& name, const grey_scale& scale);
/// Stretches a grid over a box, which its cells fill.
void lay_over(raster_grid& grid, const point& low, const point& high);

}  // namespace mesh2d
