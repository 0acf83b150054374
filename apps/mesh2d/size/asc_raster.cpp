// SPDX-License-Identifier: Apache-2.0
// ESRI ASCII grids: a header of names and numbers, then the rows from the north to the south.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <nacre/error.hpp>

#include "size/raster_files.hpp"

namespace mesh2d {
namespace {

class asc_reader {
 public:
  asc_reader(std::istream& stream, std::string name, std::uint64_t bytes)
      : input_(stream), name_(std::move(name)), bytes_(bytes) {}

  raster_grid read() {
    read_header();
    raster_grid grid = grid_of_header();
    read_cells(grid);
    return grid;
  }

 private:
  using entry = std::pair<double, std::uint32_t>;  // the number, and its line

  [[noreturn]] void refuse(std::uint32_t line, const std::string& problem, const std::string& reason,
                           const std::string& remedy) const {
    throw nacre::setup_error({fmt::format("{}:{}: {}", name_, line, problem), reason, remedy});
  }

  /// The next word; empty at the end of the file.
  std::string_view word() {
    constexpr std::string_view blank = " \t\r\f\v";
    for (;;) {
      const std::size_t begin = text_.find_first_not_of(blank, position_);
      if (begin != std::string::npos) {
        position_ = std::min(text_.find_first_of(blank, begin), text_.size());
        return std::string_view(text_).substr(begin, position_ - begin);
      }
      position_ = 0;
      if (!std::getline(input_, text_)) {
        text_.clear();
        return {};
      }
      ++line_;
    }
  }

  double number(std::string_view text, const std::string& meaning) const {
    double value = 0;
    if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    refuse(line_, text.empty() ? "the file ends here" : fmt::format("'{}' is no number", text),
           fmt::format("{} should stand here", meaning), "correct it");
  }

  static bool is_name(std::string_view text) {
    const bool has_letter = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    return has_letter && (text.size() > 3 || text.size() == 2);  // nan and inf are numbers
  }

  void read_header() {
    for (first_cell_ = word(); is_name(first_cell_); first_cell_ = word()) {
      std::string key(first_cell_);
      for (char& each : key) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
      const std::uint32_t line = line_;
      const double value = number(word(), "the value of " + key);
      if (!header_.try_emplace(key, value, line).second) {
        refuse(line, fmt::format("{} is there twice", key), "a header has one of each", "remove one");
      }
    }
  }

  [[nodiscard]] std::optional<entry> find(const char* key) const {
    const auto match = header_.find(key);
    return match == header_.end() ? std::nullopt : std::optional(match->second);
  }

  [[nodiscard]] entry demand(const char* key) const {
    if (const auto match = find(key)) return *match;
    refuse(std::max(line_, 1u), fmt::format("the header has no {}", key),
           "an ESRI ASCII grid begins with ncols, nrows, xllcorner, yllcorner and cellsize", "add it");
  }

  [[nodiscard]] std::uint32_t count(const char* key) const {
    const auto [value, line] = demand(key);
    if (value >= 1 && value <= 1e9 && value == std::floor(value)) return static_cast<std::uint32_t>(value);
    refuse(line, fmt::format("{} is {:.10g}", key, value), "it is a whole number from 1 to 1e9", "correct it");
  }

  /// The centre of the first cell on one axis.
  [[nodiscard]] double origin(const char* corner, const char* centre, double step) const {
    const auto at_centre = find(centre);
    const auto [value, line] = at_centre ? *at_centre : demand(corner);
    if (!std::isfinite(value)) refuse(line, fmt::format("{} is {}", corner, value), "it is a coordinate", "correct it");
    return at_centre ? value : value + step / 2;
  }

  [[nodiscard]] double step(const char* key) const {
    const auto entry = find(key);
    const auto [value, line] = entry ? *entry : demand("cellsize");
    if (value > 0 && std::isfinite(value)) return value;
    refuse(line, fmt::format("the side of a cell is {}", value), "it must be positive", "correct it");
  }

  [[nodiscard]] raster_grid grid_of_header() const {
    raster_grid grid{.columns = count("ncols"), .rows = count("nrows")};
    grid.step_x = step("dx");
    grid.step_y = step("dy");
    grid.west = origin("xllcorner", "xllcenter", grid.step_x);
    grid.south = origin("yllcorner", "yllcenter", grid.step_y);
    const std::uint64_t cells = std::uint64_t{grid.columns} * grid.rows;
    if (cells > bytes_ / 2 + 1) {  // a digit and a blank for each
      refuse(demand("nrows").second, fmt::format("the header promises {} cells", cells),
             fmt::format("the file has only {} bytes", bytes_), "correct ncols and nrows, or get the whole file");
    }
    if (cells > raster_grid::cells_max) {
      refuse(demand("nrows").second, fmt::format("the raster has {} cells", cells),
             fmt::format("at most {} are read", raster_grid::cells_max), "make it coarser");
    }
    return grid;
  }

  [[nodiscard]] double length_of(std::string_view text, std::uint32_t row, std::uint32_t column, double no_data) const {
    const std::string place = fmt::format("the cell in row {}, column {}", row + 1, column + 1);
    const double value = number(text, place);
    if (value == no_data || std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
    if (value > 0 && std::isfinite(value)) return value;
    refuse(line_, fmt::format("{} is {}", place, value), "the length of sides must be positive and finite",
           "correct it, or name it as NODATA_value for no bound");
  }

  void read_cells(raster_grid& grid) {
    const auto marked = find("nodata_value");
    const double no_data = marked ? marked->first : -9999;
    std::string_view text = first_cell_;
    grid.lengths.resize(std::size_t{grid.columns} * grid.rows);
    bool any = false;
    for (std::uint32_t row = 0; row < grid.rows; ++row) {
      double* const target = grid.lengths.data() + std::size_t{grid.rows - 1 - row} * grid.columns;
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        target[column] = length_of(text, row, column, no_data);
        any = any || !std::isnan(target[column]);
        text = word();
      }
    }
    if (!text.empty()) {
      refuse(line_, "more cells than ncols times nrows", "nothing follows the last row", "correct the header");
    }
    if (!any) refuse(line_, "no cell has data", "the raster would set no bound", "correct it, or leave out --size");
  }

  std::istream& input_;
  std::string name_, text_{};
  std::uint64_t bytes_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 0;
  std::string_view first_cell_{};
  std::map<std::string, entry> header_{};
};

}  // namespace

raster_grid read_asc_raster(std::istream& stream, const std::string& name, std::uint64_t bytes) {
  return asc_reader(stream, name, bytes).read();
}

raster_grid read_asc_raster(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code failed;
  const std::uint64_t bytes = std::filesystem::file_size(path, failed);
  if (!file || failed) {
    throw nacre::setup_error(
        {fmt::format("--size {} cannot be read", path), "it should be an ESRI ASCII grid", "check the name"});
  }
  return read_asc_raster(file, path, bytes);
}

}  // namespace mesh2d
