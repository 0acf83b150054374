// SPDX-License-Identifier: Apache-2.0
// An open netCDF file.
#pragma once

#include <netcdf.h>

#include <string>

namespace mesh2d {

/// Closes the file in the end.
class netcdf_file {
 public:
  explicit netcdf_file(const std::string& path) noexcept : error_(nc_open(path.c_str(), NC_NOWRITE, &id_)) {}
  ~netcdf_file() {
    if (error_ == NC_NOERR) nc_close(id_);
  }
  netcdf_file(const netcdf_file&) = delete;
  netcdf_file& operator=(const netcdf_file&) = delete;

  /// Why the file could not be opened, as netCDF says it; null for an open file.
  [[nodiscard]] const char* problem() const noexcept { return error_ == NC_NOERR ? nullptr : nc_strerror(error_); }
  [[nodiscard]] int id() const noexcept { return id_; }

 private:
  int id_ = 0;
  int error_;
};

}  // namespace mesh2d
