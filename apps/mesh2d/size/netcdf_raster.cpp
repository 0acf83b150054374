// SPDX-License-Identifier: Apache-2.0
// Reads grids by netCDF, as the COARDS and CF conventions and GMT have them.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>

#include "input/netcdf_file.hpp"
#include "size/raster_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

namespace mesh2d {

namespace {

/// One axis: the first value, the step (which may be negative) and the number.
struct axis {
  double begin = 0, step = 1;
  std::size_t count = 0;
};

/// The least size of a file in one of the classic formats that has all that its header tells of. netCDF reads zeros
/// where such a file has been cut off.
class classic_size {
 public:
  classic_size(int file, int format)
      : file_(file), count_(format == NC_FORMAT_CDF5 ? 8 : 4), offset_(format == NC_FORMAT_CLASSIC ? 4 : 8) {}

  [[nodiscard]] std::uint64_t bytes() const {
    int dimensions = 0, variables = 0, attributes = 0, unlimited = 0;
    if (nc_inq(file_, &dimensions, &variables, &attributes, &unlimited) != NC_NOERR) return 0;
    std::uint64_t sum = 4 + count_ + 3 * (4 + count_) + of_attributes(NC_GLOBAL, attributes);
    for (int each = 0; each < dimensions; ++each) {
      char name[NC_MAX_NAME + 1] = {};
      nc_inq_dimname(file_, each, name);
      sum += of_name(name) + count_;
    }
    for (int each = 0; each < variables; ++each) sum += of_variable(each);
    return sum;
  }

 private:
  [[nodiscard]] std::uint64_t of_name(const char* name) const { return count_ + padded(std::strlen(name)); }
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

  [[nodiscard]] std::uint64_t of_attributes(int variable, int number) const {
    std::uint64_t sum = 0;
    for (int each = 0; each < number; ++each) {
      char name[NC_MAX_NAME + 1] = {};
      nc_type type = NC_NAT;
      std::size_t length = 0, value = 0;
      nc_inq_attname(file_, variable, each, name);
      nc_inq_att(file_, variable, name, &type, &length);
      nc_inq_type(file_, type, nullptr, &value);
      sum += of_name(name) + 4 + count_ + padded(length * value);
    }
    return sum;
  }

  /// Its entry in the header, and its values.
  [[nodiscard]] std::uint64_t of_variable(int variable) const {
    char name[NC_MAX_NAME + 1] = {};
    nc_type type = NC_NAT;
    int number = 0, attributes = 0;
    std::array<int, NC_MAX_VAR_DIMS> dimensions{};
    std::size_t values = 0;
    nc_inq_var(file_, variable, name, &type, &number, dimensions.data(), &attributes);
    nc_inq_type(file_, type, nullptr, &values);
    for (int k = 0; k < number; ++k) {
      std::size_t length = 0;
      nc_inq_dimlen(file_, dimensions[static_cast<std::size_t>(k)], &length);
      values *= length;
    }
    const auto in_list = static_cast<std::uint64_t>(number + 2) * count_;
    return of_name(name) + in_list + 4 + of_attributes(variable, attributes) + 4 + count_ + offset_ + values;
  }

  int file_;
  std::uint64_t count_, offset_;
};

class raster_reader {
 public:
  explicit raster_reader(const std::string& path) : path_(path), opened_(path) {
    if (opened_.problem() != nullptr) refuse(opened_.problem());
  }

  raster_grid read(const std::string& wanted) {
    choose(wanted);
    int dimensions[2] = {0, 0};
    demand(nc_inq_vardimid(file_, variable_, dimensions), name_);
    demand_size(dimensions);
    const axis y = read_axis(dimensions[0]), x = read_axis(dimensions[1]);
    raster_grid grid{.columns = static_cast<std::uint32_t>(x.count), .rows = static_cast<std::uint32_t>(y.count)};
    grid.step_x = std::abs(x.step);
    grid.step_y = std::abs(y.step);
    grid.west = std::min(x.begin, x.begin + x.step * static_cast<double>(x.count - 1));
    grid.south = std::min(y.begin, y.begin + y.step * static_cast<double>(y.count - 1));
    read_cells(grid, x.step < 0, y.step < 0);
    return grid;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem,
                           const std::string& remedy = "check the name, or write FILE.nc?VARIABLE") const {
    throw nacre::setup_error({fmt::format("--size {} cannot be read: {}", path_, problem),
                              "it should be a netCDF file with a variable over y and x, of equal steps", remedy});
  }
  void demand(int result, const std::string& name) const {
    if (result != NC_NOERR) refuse(fmt::format("'{}': {}", name, nc_strerror(result)));
  }

  std::string name_of(int variable) const {
    char name[NC_MAX_NAME + 1] = {};
    demand(nc_inq_varname(file_, variable, name), "a variable");
    return name;
  }

  /// The variable of that name, or the only one with two dimensions.
  void choose(const std::string& wanted) {
    int count = 0;
    demand(nc_inq_nvars(file_, &count), "variables");
    std::string all;
    int fitting = 0;
    for (int each = 0; each < count; ++each) {
      int dimensions = 0;
      nc_type type = NC_NAT;
      demand(nc_inq_varndims(file_, each, &dimensions), "a variable");
      demand(nc_inq_vartype(file_, each, &type), "a variable");
      if (dimensions != 2 || type == NC_CHAR || type > NC_UINT64 || type == NC_STRING) continue;
      if (!wanted.empty() && name_of(each) != wanted) continue;
      variable_ = each;
      name_ = name_of(each);
      all += (fitting++ == 0 ? "" : ", ") + name_;
    }
    if (fitting == 1) return;
    if (fitting > 1) {
      refuse(fmt::format("it has {} variables of numbers with two dimensions: {}", fitting, all),
             fmt::format("write {}?{}", path_, name_));
    }
    refuse(wanted.empty() ? "it has no variable of numbers with two dimensions"
                          : fmt::format("it has no variable '{}' of numbers with two dimensions", wanted));
  }

  std::size_t length_of(int dimension) const {
    std::size_t length = 0;
    demand(nc_inq_dimlen(file_, dimension, &length), "a dimension");
    return length;
  }

  /// Refuses headers that promise more than the file can hold: as it is written, or packed a thousandfold.
  void demand_size(const int (&dimensions)[2]) const {
    const auto rows = static_cast<double>(length_of(dimensions[0]));
    const auto columns = static_cast<double>(length_of(dimensions[1]));
    int format = 0;
    nc_type type = NC_NAT;
    std::size_t cell = 0;
    demand(nc_inq_format(file_, &format), name_);
    demand(nc_inq_vartype(file_, variable_, &type), name_);
    demand(nc_inq_type(file_, type, nullptr, &cell), name_);
    std::error_code failed;
    const auto bytes = static_cast<double>(std::filesystem::file_size(path_, failed));
    const bool packs = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
    if (rows < 1 || columns < 1) refuse(fmt::format("'{}' has no cells", name_));
    const double least = packs ? rows * columns * static_cast<double>(cell) / 1100
                               : std::max(rows * columns * static_cast<double>(cell),
                                          static_cast<double>(classic_size(file_, format).bytes()));
    if (failed || least > bytes) {
      refuse(fmt::format("the header promises {:.0f} x {:.0f} cells of '{}', and the file has only {:.0f} bytes",
                         columns, rows, name_, bytes),
             "get the whole file");
    }
    if (rows * columns > static_cast<double>(raster_grid::cells_max)) {
      refuse(fmt::format("'{}' has {:.0f} x {:.0f} cells, and at most {} are read", name_, columns, rows,
                         raster_grid::cells_max),
             "make it coarser");
    }
  }

  /// The coordinates of a dimension: the variable that has its name.
  axis read_axis(int dimension) const {
    char name[NC_MAX_NAME + 1] = {};
    demand(nc_inq_dimname(file_, dimension, name), "a dimension");
    axis result{.count = length_of(dimension)};
    int variable = 0, dimensions = 0, variable_dimension = -1;
    demand(nc_inq_varid(file_, name, &variable), name);
    demand(nc_inq_varndims(file_, variable, &dimensions), name);
    if (dimensions == 1) demand(nc_inq_vardimid(file_, variable, &variable_dimension), name);
    if (variable_dimension != dimension) refuse(fmt::format("'{}' is no coordinate of the dimension '{}'", name, name));
    std::vector<double> values(result.count);
    demand(nc_get_var_double(file_, variable, values.data()), name);
    result.begin = values.front();
    if (result.count > 1) result.step = (values.back() - values.front()) / static_cast<double>(result.count - 1);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double off = values[k] - (result.begin + result.step * static_cast<double>(k));
      if (result.step != 0 && std::abs(off) <= 0.01 * std::abs(result.step)) continue;
      refuse(fmt::format("'{}' has no equal steps: value {} is {}", name, k + 1, values[k]), "resample it");
    }
    return result;
  }

  std::optional<double> attribute(const char* name) const {
    double value = 0;
    std::size_t count = 0;
    if (nc_inq_attlen(file_, variable_, name, &count) != NC_NOERR || count != 1) return std::nullopt;
    if (nc_get_att_double(file_, variable_, name, &value) != NC_NOERR) return std::nullopt;
    return value;
  }

  void read_cells(raster_grid& grid, bool from_east, bool from_north) const {
    const std::optional<double> fill = attribute("_FillValue"), missing = attribute("missing_value");
    const double scale = attribute("scale_factor").value_or(1), offset = attribute("add_offset").value_or(0);
    bool any = false;
    grid.lengths.resize(std::size_t{grid.columns} * grid.rows);
    for (std::size_t row = 0; row < grid.rows; ++row) {
      double* const target = grid.lengths.data() + (from_north ? grid.rows - 1 - row : row) * grid.columns;
      const std::size_t start[2] = {row, 0}, count[2] = {1, grid.columns};
      demand(nc_get_vara_double(file_, variable_, start, count, target), fmt::format("{}, row {}", name_, row + 1));
      for (std::size_t column = 0; column < grid.columns; ++column) {
        if (std::isnan(target[column]) || target[column] == fill || target[column] == missing) {
          target[column] = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
        target[column] = target[column] * scale + offset;
        any = true;
        if (target[column] > 0 && std::isfinite(target[column])) continue;
        refuse(fmt::format("'{}' in row {}, column {} is {}", name_, row + 1, column + 1, target[column]),
               "correct it: lengths of sides are positive and finite, and _FillValue means no bound");
      }
      if (from_east) std::reverse(target, target + grid.columns);
    }
    if (!any) refuse(fmt::format("no cell of '{}' has data", name_), "correct it, or leave out --size");
  }

  std::string path_, name_{};
  netcdf_file opened_;
  int file_ = opened_.id(), variable_ = 0;
};

}  // namespace

raster_grid read_netcdf_raster(const std::string& path, const std::string& variable) {
  return raster_reader(path).read(variable);
}

}  // namespace mesh2d
