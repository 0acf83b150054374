// SPDX-License-Identifier: Apache-2.0
// In builds without netCDF: coasts and rasters of netCDF are refused.
#include <fmt/format.h>

#include <string>

#include <nacre/error.hpp>

#include "coast/coastlines.hpp"
#include "size/raster_files.hpp"

namespace mesh2d {

pslg read_coast(const std::string& input, const coast_options&) {
  throw nacre::setup_error({fmt::format("{} cannot be read", input), "this mesh2d was built without netCDF",
                            "install libnetcdf-dev and build again"});
}

raster_grid read_netcdf_raster(const std::string& path, const std::string&) {
  throw nacre::setup_error({fmt::format("--size {} cannot be read", path), "this mesh2d was built without netCDF",
                            "install libnetcdf-dev and build again, or convert it to an ESRI ASCII grid (.asc)"});
}

}  // namespace mesh2d
