// SPDX-License-Identifier: Apache-2.0
// Pictures in grey, as text (P2) or as bytes (P5), whose greys stand for lengths.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include <nacre/error.hpp>

#include "size/raster_files.hpp"

namespace mesh2d {
namespace {

class pgm_reader {
 public:
  pgm_reader(const std::string& bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  raster_grid read(const grey_scale& scale) {
    const std::string kind = bytes_.substr(0, 2);
    if (kind != "P2" && kind != "P5") {
      refuse(0, "the file does not begin with P2 or P5", "a picture in grey does", "convert it to .pgm");
    }
    position_ = 2;
    raster_grid grid;
    grid.columns = number("the width", 1, 1e9);
    grid.rows = number("the height", 1, 1e9);
    white_ = number("the value of white", 1, 65535);
    const std::size_t cells = std::size_t{grid.columns} * grid.rows, cell_bytes = kind == "P2" || white_ > 255 ? 2 : 1;
    if (kind == "P5") ++position_;  // one blank
    const std::size_t left = bytes_.size() - std::min(position_, bytes_.size());
    if (cells > raster_grid::cells_max) {
      refuse(position_, fmt::format("the picture has {} pixels", cells),
             fmt::format("at most {} are read", raster_grid::cells_max), "make it coarser");
    }
    if (left + 1 < cells * cell_bytes) {  // behind the last one of text no blank is needed
      refuse(bytes_.size(), fmt::format("the file ends here, behind {} bytes of pixels", left),
             fmt::format("{} pixels take {} at least", cells, cells * cell_bytes), "fetch the file again");
    }
    grid.lengths.resize(cells);
    for (std::uint32_t row = grid.rows; row-- > 0;) {  // from the north
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        const double grey = kind == "P2" ? number("a pixel", 0, white_) : next_bytes(cell_bytes);
        grid.lengths[std::size_t{row} * grid.columns + column] =
            scale.black + (scale.white - scale.black) * (grey / white_);
      }
    }
    return grid;
  }

 private:
  [[noreturn]] void refuse(std::size_t byte, const std::string& problem, const std::string& reason,
                           const std::string& remedy) const {
    throw nacre::setup_error({fmt::format("{}: byte {}: {}", name_, byte, problem), reason, remedy});
  }

  /// The next whole number, behind blanks and comments.
  std::uint32_t number(const char* meaning, double least, double most) {
    while (position_ < bytes_.size() &&
           (std::isspace(static_cast<unsigned char>(bytes_[position_])) != 0 || bytes_[position_] == '#')) {
      position_ = bytes_[position_] == '#' ? std::min(bytes_.find('\n', position_), bytes_.size()) : position_ + 1;
    }
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(bytes_.data() + position_, bytes_.data() + bytes_.size(), value);
    if (error != std::errc() || value < least || value > most) {
      refuse(position_, fmt::format("{} is no number from {} to {}", meaning, least, most), "it should stand here",
             "check that the file is whole");
    }
    position_ = static_cast<std::size_t>(end - bytes_.data());
    return value;
  }

  /// A pixel of one byte, or of two, the first of which counts more.
  double next_bytes(std::size_t count) {
    double value = 0;
    for (const std::size_t end = position_ + count; position_ < end; ++position_) {
      if (position_ >= bytes_.size())
        refuse(position_, "the file ends here", "pixels should follow", "fetch the file again");
      value = value * 256 + static_cast<unsigned char>(bytes_[position_]);
    }
    if (value > white_) {
      refuse(position_, fmt::format("a pixel of {}", value), fmt::format("white is {}", white_), "mend the file");
    }
    return value;
  }

  const std::string& bytes_;
  std::string name_;
  std::size_t position_ = 0;
  std::uint32_t white_ = 1;
};

}  // namespace

raster_grid read_pgm_raster(const std::string& bytes, const std::string& name, const grey_scale& scale) {
  return pgm_reader(bytes, name).read(scale);
}

raster_grid read_pgm_raster(const std::string& path, const std::string& lengths) {
  grey_scale scale;
  const char *const begin = lengths.data(), *const last = begin + lengths.size();
  const auto [comma, first] = std::from_chars(begin, last, scale.black);
  const auto [end, second] = comma == last ? std::from_chars_result{comma, std::errc::invalid_argument}
                                           : std::from_chars(comma + 1, last, scale.white);
  const auto is_length = [](double each) { return each > 0 && std::isfinite(each); };
  if (first != std::errc() || second != std::errc() || *comma != ',' || end != last || !is_length(scale.black) ||
      !is_length(scale.white)) {
    throw nacre::setup_error({fmt::format("--size {} has no lengths '{}'", path, lengths),
                              "behind a picture's name stand the lengths for black and white, both positive",
                              fmt::format("try --size '{}?0.01,0.1'", path)});
  }
  std::ifstream file(path, std::ios::binary);
  if (std::filesystem::is_directory(path)) {
    throw nacre::setup_error(
        {fmt::format("--size {} is a directory", path), "it should be a picture in grey", "name a file inside"});
  }
  if (!file) {
    throw nacre::setup_error(
        {fmt::format("--size {} cannot be read", path), "it should be a picture in grey", "check the name"});
  }
  return read_pgm_raster(std::string{std::istreambuf_iterator<char>(file), {}}, path, scale);
}

void lay_over(raster_grid& grid, const point& low, const point& high) {
  grid.step_x = (high.x - low.x) / grid.columns;
  grid.step_y = (high.y - low.y) / grid.rows;
  grid.west = low.x + grid.step_x / 2;
  grid.south = low.y + grid.step_y / 2;
}

}  // namespace mesh2d
