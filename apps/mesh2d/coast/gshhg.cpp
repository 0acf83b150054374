// SPDX-License-Identifier: Apache-2.0
// Reads the arrays of a file by netCDF.
#include "coast/gshhg.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <nacre/error.hpp>

#include "input/netcdf_file.hpp"

namespace mesh2d {

namespace {

constexpr std::size_t size_max = std::size_t{1} << 28;

class array_reader {
 public:
  explicit array_reader(const std::string& path) : path_(path), opened_(path) {
    if (opened_.problem() != nullptr) refuse(opened_.problem());
  }

  std::vector<int> whole_numbers(const char* name) { return array<int>(name, nc_get_var_int); }
  std::vector<double> numbers(const char* name) { return array<double>(name, nc_get_var_double); }
  int one(const char* name) {
    const std::vector<int> all = whole_numbers(name);
    if (all.size() != 1) refuse(fmt::format("'{}' has {} values", name, all.size()));
    return all.front();
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw nacre::setup_error({fmt::format("{} cannot be read: {}", path_, problem),
                              "it should be a binned file of GSHHG's shorelines (binned_GSHHS_*.nc)",
                              "check the name, or get the file from Debian's package gmt-gshhg-low"});
  }
  void demand(int result, const char* name) const {
    if (result != NC_NOERR) refuse(fmt::format("'{}': {}", name, nc_strerror(result)));
  }

  template <class Value>
  std::vector<Value> array(const char* name, int (*get)(int, int, Value*)) {
    int variable = 0, dimensions = 0, dimension = 0;
    std::size_t size = 0;
    demand(nc_inq_varid(file_, name, &variable), name);
    demand(nc_inq_varndims(file_, variable, &dimensions), name);
    if (dimensions != 1) refuse(fmt::format("'{}' has {} dimensions", name, dimensions));
    demand(nc_inq_vardimid(file_, variable, &dimension), name);
    demand(nc_inq_dimlen(file_, dimension, &size), name);
    if (size > size_max) refuse(fmt::format("'{}' has {} values", name, size));
    std::vector<Value> values(size);
    if (size > 0) demand(get(file_, variable, values.data()), name);
    return values;
  }

  std::string path_;
  netcdf_file opened_;
  int file_ = opened_.id();
};

}  // namespace

coast_map read_gshhg(const std::string& path) {
  array_reader file(path);
  gshhg_arrays read;
  read.bin_minutes = file.one("Bin_size_in_minutes");
  read.columns = file.one("N_bins_in_360_longitude_range");
  read.rows = file.one("N_bins_in_180_degree_latitude_range");
  read.first_segment = file.whole_numbers("Id_of_first_segment_in_a_bin");
  read.segments = file.whole_numbers("N_segments_in_a_bin");
  read.embedded = file.whole_numbers("Embedded_npts_levels_exit_entry_for_a_segment");
  read.first_point = file.whole_numbers("Id_of_first_point_in_a_segment");
  read.polygon = file.whole_numbers("Id_of_GSHHS_ID");
  read.x = file.whole_numbers("Relative_longitude_from_SW_corner_of_bin");
  read.y = file.whole_numbers("Relative_latitude_from_SW_corner_of_bin");
  read.km2 = file.numbers("The_km_squared_area_of_polygons");
  return map_of(read, path);
}

}  // namespace mesh2d
