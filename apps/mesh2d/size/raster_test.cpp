// SPDX-License-Identifier: Apache-2.0
// Size fields by rasters, and files that lie about what they hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "size/raster_field.hpp"
#include "size/raster_files.hpp"

#ifdef MESH2D_HAS_NETCDF
#include <netcdf.h>
#endif

namespace mesh2d {
namespace {

raster_grid read_asc(const std::string& text) {
  std::istringstream input(text);
  return read_asc_raster(input, "sizes.asc", text.size());
}

std::string refusal_of_asc(const std::string& text) {
  try {
    static_cast<void>(read_asc(text));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

const std::string small_header = "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 2\n";

TEST(Raster, is_bilinear_between_the_centres_of_cells_and_constant_beyond_them) {
  const raster_field field(read_asc(small_header + "1 2 4\n8 16 32\n"));
  EXPECT_EQ(field.length({11, 21}), 8);  // the south-western centre
  EXPECT_EQ(field.length({15, 23}), 4);
  EXPECT_EQ(field.length({12, 23}), 1.5);
  EXPECT_EQ(field.length({13, 22}), 9);
  EXPECT_EQ(field.length({12, 22}), (1 + 2 + 8 + 16) / 4.0);
  EXPECT_EQ(field.length({-1e9, -1e9}), 8);
  EXPECT_EQ(field.length({1e9, 22}), 18);
  EXPECT_EQ(field.length({10.5, 1e300}), 1);
}

TEST(Raster, cells_without_data_have_no_weight) {
  const raster_field field(read_asc(small_header + "NODATA_value -1\n1 -1 -1\n8 -1 -1\n"));
  EXPECT_EQ(field.length({12, 22}), 4.5);
  EXPECT_EQ(field.length({14, 22}), std::numeric_limits<double>::infinity());
  const raster_field usual(read_asc(small_header + "1 -9999 nan\n8 16 32\n"));
  EXPECT_EQ(usual.length({15, 22.5}), 32);
  EXPECT_NE(refusal_of_asc(small_header + "-9999 -9999 -9999 -9999 -9999 -9999\n").find("no cell has data"),
            std::string::npos);
}

TEST(Raster, a_header_may_name_centres_and_two_steps_in_any_case) {
  const raster_grid read =
      read_asc("NCOLS 2\r\nNROWS 2\r\nXLLCENTER 1\r\nYLLCENTER -2\r\nDX 0.5\r\nDY 4\r\n1 2\r\n3 4\r\n");
  EXPECT_EQ(read.west, 1);
  EXPECT_EQ(read.south, -2);
  EXPECT_EQ(read.step_x, 0.5);
  EXPECT_EQ(read.step_y, 4);
  EXPECT_EQ(read.lengths, (std::vector<double>{3, 4, 1, 2}));
}

TEST(Raster, an_asc_file_with_a_defect_is_refused_with_its_line) {
  const std::vector<std::pair<std::string, std::string>> faulty{
      {"", "sizes.asc:1: the header has no ncols"},
      {small_header + "1 2 4\n8 16\n", "sizes.asc:7: the file ends here (the cell in row 2, column 3"},
      {small_header + "1 2 4\n8 16 32 64\n", "sizes.asc:7: more cells than ncols times nrows"},
      {small_header + "1 2 4\n8 x 32\n", "sizes.asc:7: 'x' is no number (the cell in row 2, column 2"},
      {small_header + "1 0 4\n8 16 32\n", "sizes.asc:6: the cell in row 1, column 2 is 0 "},
      {small_header + "1 inf 4\n8 16 32\n", "sizes.asc:6: the cell in row 1, column 2 is inf"},
      {small_header + "ncols 3\n", "sizes.asc:6: ncols is there twice"},
      {"ncols 1000000000\nnrows 1000000000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n",
       "sizes.asc:2: the header promises 1000000000000000000 cells (the file has only "},
      {"ncols -3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1\n", "sizes.asc:1: ncols is -3"},
      {"ncols 1e30\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1\n", "sizes.asc:1: ncols is 1e+30"},
      {"ncols 1\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 0\n1\n", "sizes.asc:5: the side of a cell is 0"},
      {"ncols 1\nnrows 1\nxllcorner nan\nyllcorner 0\ncellsize 1\n1\n", "sizes.asc:3: xllcorner is nan"},
      {"ncols 1\nnrows 1\nxllcorner 0\ncellsize 1\n1\n", "the header has no yllcorner"},
  };
  for (const auto& [text, expected] : faulty) {
    EXPECT_NE(refusal_of_asc(text).find(expected), std::string::npos) << expected << "\nbut " << refusal_of_asc(text);
  }
}

TEST(Raster, a_file_with_another_ending_is_no_expression) {
  try {
    static_cast<void>(describe_size("/"));
    FAIL();
  } catch (const nacre::setup_error& error) {
    EXPECT_NE(std::string(error.what()).find("rasters end in .asc, .nc or .pgm"), std::string::npos) << error.what();
  }
}

TEST(Raster, a_sound_asc_file_cut_off_anywhere_is_refused) {
  const std::string whole = small_header + "0.125 0.25 0.5\n0.5 0.25 0.125";
  ASSERT_EQ(refusal_of_asc(whole), "");
  for (std::size_t size = 0; size + 4 < whole.size(); ++size) {  // the last number may be a shorter one
    EXPECT_NE(refusal_of_asc(whole.substr(0, size)), "") << size;
  }
}

std::string refusal_of_netcdf(const std::string& path, const std::string& variable = "") {
  try {
    static_cast<void>(read_netcdf_raster(path, variable));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

#ifdef MESH2D_HAS_NETCDF

/// A netCDF file in a folder that ends with it.
class netcdf_for_test {
 public:
  explicit netcdf_for_test(int format = 0) {
    std::filesystem::create_directory(folder_);
    EXPECT_EQ(nc_create(path().c_str(), NC_CLOBBER | format, &file_), NC_NOERR);
  }
  ~netcdf_for_test() {
    finish();
    std::filesystem::remove_all(folder_);
  }
  netcdf_for_test(const netcdf_for_test&) = delete;
  netcdf_for_test& operator=(const netcdf_for_test&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "sizes.nc").string(); }
  void finish() {
    if (file_ >= 0) {
      EXPECT_EQ(nc_close(file_), NC_NOERR);
    }
    file_ = -1;
  }
  void axis(const char* name, const std::vector<double>& values) {
    int dimension = 0, variable = 0;
    EXPECT_EQ(nc_def_dim(file_, name, values.size(), &dimension), NC_NOERR);
    EXPECT_EQ(nc_def_var(file_, name, NC_DOUBLE, 1, &dimension, &variable), NC_NOERR);
    static_cast<void>(nc_enddef(file_));
    EXPECT_EQ(nc_put_var_double(file_, variable, values.data()), NC_NOERR);
    static_cast<void>(nc_redef(file_));
  }
  void cells(const char* name, const std::vector<double>& values, nc_type type = NC_FLOAT, double scale = 1) {
    int dimensions[2] = {0, 0}, variable = 0;
    EXPECT_EQ(nc_inq_dimid(file_, "y", &dimensions[0]), NC_NOERR);
    EXPECT_EQ(nc_inq_dimid(file_, "x", &dimensions[1]), NC_NOERR);
    EXPECT_EQ(nc_def_var(file_, name, type, 2, dimensions, &variable), NC_NOERR);
    const double fill = -1;
    EXPECT_EQ(nc_put_att_double(file_, variable, "_FillValue", type, 1, &fill), NC_NOERR);
    if (scale != 1) {
      EXPECT_EQ(nc_put_att_double(file_, variable, "scale_factor", NC_DOUBLE, 1, &scale), NC_NOERR);
    }
    static_cast<void>(nc_enddef(file_));
    if (!values.empty()) {
      EXPECT_EQ(nc_put_var_double(file_, variable, values.data()), NC_NOERR);
    }
    static_cast<void>(nc_redef(file_));
  }
  void attribute(const char* subject, const char* name, double value) {
    int variable = 0;
    EXPECT_EQ(nc_inq_varid(file_, subject, &variable), NC_NOERR);
    EXPECT_EQ(nc_put_att_double(file_, variable, name, NC_DOUBLE, 1, &value), NC_NOERR);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("mesh2d_raster_" + std::to_string(getpid()));
  int file_ = -1;
};

TEST(Raster, netcdf_grids_are_read_in_any_direction_and_format) {
  for (const int format : {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4}) {
    netcdf_for_test file(format);
    file.axis("y", {23, 21});
    file.axis("x", {11, 13, 15});
    file.cells("z", {1, 2, -1, 8, 16, 32}, NC_SHORT, 0.5);
    file.finish();
    const raster_grid read = read_netcdf_raster(file.path(), "");
    EXPECT_EQ(read.west, 11);
    EXPECT_EQ(read.south, 21);
    EXPECT_EQ(read.step_x, 2);
    EXPECT_EQ(read.step_y, 2);
    ASSERT_EQ(read.lengths.size(), 6u);
    EXPECT_TRUE(std::isnan(read.lengths[5]));
    EXPECT_EQ(std::vector<double>(read.lengths.begin(), read.lengths.end() - 1),
              (std::vector<double>{4, 8, 16, 0.5, 1}));
  }
}

TEST(Raster, netcdf_grids_may_begin_in_the_east_and_have_an_offset_and_a_second_mark_of_no_data) {
  netcdf_for_test file;
  file.axis("y", {21, 23});
  file.axis("x", {15, 13, 11});
  file.cells("z", {1, 2, 3, 4, -2, 6}, NC_SHORT, 0.5);
  file.attribute("z", "add_offset", 10);
  file.attribute("z", "missing_value", -2);
  file.finish();
  const raster_grid read = read_netcdf_raster(file.path(), "");
  EXPECT_EQ(read.west, 11);
  EXPECT_EQ(read.step_x, 2);
  ASSERT_EQ(read.lengths.size(), 6u);
  EXPECT_EQ(std::vector<double>(read.lengths.begin(), read.lengths.begin() + 4),
            (std::vector<double>{11.5, 11, 10.5, 13}));
  EXPECT_TRUE(std::isnan(read.lengths[4]));
  EXPECT_EQ(read.lengths[5], 12);
}

TEST(Raster, netcdf_grids_with_a_defect_are_refused_with_the_place) {
  const auto refused = [](const std::vector<double>& x, const std::vector<double>& values, const std::string& variable,
                          bool second = false) {
    netcdf_for_test file;
    file.axis("y", {21, 23});
    file.axis("x", x);
    file.cells("z", values);
    if (second) file.cells("depth", values);
    file.finish();
    const std::string line = refusal_of_netcdf(file.path(), variable);
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return line;
  };
  const auto expect_in = [](const std::string& line, const std::string& part) {
    EXPECT_NE(line.find(part), std::string::npos) << line;
  };
  EXPECT_EQ(refused({1, 2}, {1, 2, 3, 4}, "z"), "");
  expect_in(refused({1, 2}, {1, 2, 3, 0}, ""), "'z' in row 2, column 2 is 0");
  expect_in(refused({1, 2}, {1, 2, 3, 4}, "w"), "no variable 'w'");
  expect_in(refused({1, 2}, {1, 2, 3, 4}, "", true), "variables of numbers with two dimensions: z, depth");
  expect_in(refused({1, 2, 4}, {1, 2, 3, 4, 5, 6}, ""), "'x' has no equal steps: value 2 is 2");
  expect_in(refused({1, 2}, {}, ""), "no cell of 'z' has data");
}

TEST(Raster, netcdf_headers_that_promise_more_than_the_file_holds_are_refused) {
  {
    netcdf_for_test file(NC_NETCDF4);  // nothing of it is written
    file.axis("y", {0, 1});
    file.axis("x", {0, 1});
    file.finish();
    int id = 0, dimensions[2] = {0, 0}, variable = 0;
    ASSERT_EQ(nc_open(file.path().c_str(), NC_WRITE, &id), NC_NOERR);
    ASSERT_EQ(nc_def_dim(id, "wide", 1'000'000'000, &dimensions[0]), NC_NOERR);
    ASSERT_EQ(nc_def_dim(id, "high", 1'000'000'000, &dimensions[1]), NC_NOERR);
    ASSERT_EQ(nc_def_var(id, "z", NC_DOUBLE, 2, dimensions, &variable), NC_NOERR);
    const std::size_t chunks[2] = {1000, 1000};
    ASSERT_EQ(nc_def_var_chunking(id, variable, NC_CHUNKED, chunks), NC_NOERR);
    ASSERT_EQ(nc_close(id), NC_NOERR);
    const std::string line = refusal_of_netcdf(file.path());
    EXPECT_NE(line.find("promises 1000000000 x 1000000000 cells of 'z'"), std::string::npos) << line;
  }
  netcdf_for_test file;
  file.axis("y", {0, 1});
  file.axis("x", {0, 1, 2});
  file.cells("z", {1, 2, 3, 4, 5, 6}, NC_DOUBLE);
  file.finish();
  std::ifstream input(file.path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(input)), {});
  ASSERT_EQ(refusal_of_netcdf(file.path()), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file.path(), std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    EXPECT_NE(refusal_of_netcdf(file.path()), "") << size << " of " << whole.size();
  }
}

#else

TEST(Raster, a_build_without_netcdf_names_the_package) {
  EXPECT_NE(refusal_of_netcdf("sizes.nc").find("install libnetcdf-dev"), std::string::npos);
}

#endif

}  // namespace
}  // namespace mesh2d
