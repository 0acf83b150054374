// SPDX-License-Identifier: Apache-2.0
// Tells expressions and files apart.
#include "size/size_field.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <nacre/error.hpp>

#include "meshing/output_file.hpp"
#include "size/expression_field.hpp"
#include "size/raster_field.hpp"
#include "size/raster_files.hpp"

namespace mesh2d {

size_description describe_size(const std::string& text) {
  size_description described;
  const std::string path = text.substr(0, text.rfind('?'));
  if (meshing::ends_with(path, ".nc")) {
    described.raster = read_netcdf_raster(path, path == text ? "" : text.substr(path.size() + 1));
  } else if (meshing::ends_with(text, ".asc")) {
    described.raster = read_asc_raster(text);
  } else if (meshing::ends_with(path, ".pgm")) {
    described.raster = read_pgm_raster(path, path == text ? "" : text.substr(path.size() + 1));
    described.over_domain = true;
  } else if (std::error_code none; std::filesystem::exists(text, none)) {
    throw nacre::setup_error({fmt::format("--size {} cannot be read", text), "rasters end in .asc, .nc or .pgm",
                              "rename it, or convert it to an ESRI ASCII grid or to netCDF"});
  } else {
    described.expression = text;
  }
  return described;
}

std::unique_ptr<const size_field> make_field(size_description described) {
  if (described.empty()) return nullptr;
  if (described.expression.empty()) return std::make_unique<raster_field>(std::move(described.raster));
  return make_expression_field(described.expression);
}

std::string text_of(const field_faults& field_faults, const std::string& size) {
  const std::string place = fmt::format("({:.9g}, {:.9g})", field_faults.first.x, field_faults.first.y);
  if (field_faults.triangles > 0) {
    return fmt::format(
        "--size '{}' asks for {} triangles and more around {} (samples of it told of a sixteenth, so it falls steeply "
        "there, "
        "perhaps to 0): give it a lower bound, as in max(0.001, ...)",
        size, field_faults.triangles, place);
  }
  return fmt::format(
      "--size '{}' is {:g} at {}{} (the length of sides must be positive and finite): change it there, as by "
      "max(0.001, "
      "...)",
      size, field_faults.value, place,
      field_faults.count > 1 ? fmt::format(", the first of {} such values", field_faults.count) : "");
}

}  // namespace mesh2d
