// SPDX-License-Identifier: Apache-2.0
// From the arrays of a file to coasts.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "coast/gshhg.hpp"

namespace mesh2d {
namespace {

/// A bin is divided into so many steps.
constexpr std::int64_t steps_a_bin = 65535;
constexpr int closed_in_bin = 4, level_of_grounding_line = 6;

class map_maker {
 public:
  map_maker(const gshhg_arrays& read, const std::string& name) : read_(read), name_(name) {}

  coast_map make() {
    demand_sizes();
    map_.turn = read_.columns * steps_a_bin * coast_step;
    std::size_t segments = 0;
    for (std::size_t bin = 0; bin < read_.first_segment.size(); ++bin) {
      const std::int64_t first = read_.first_segment[bin], count = read_.segments[bin];
      if (count < 0 || (count > 0 && (first < 0 || first + count > size_of(read_.embedded)))) {
        refuse(
            fmt::format("bin {} has segments from {} to {} of {}", bin, first, first + count, read_.embedded.size()));
      }
      for (std::int64_t k = 0; k < count; ++k) add_segment(bin, static_cast<std::size_t>(first + k));
      segments += static_cast<std::size_t>(count);
    }
    if (segments != read_.embedded.size()) {
      refuse(fmt::format("bins have {} segments, the file has {}", segments, read_.embedded.size()));
    }
    for (const auto& [position, balance] : ends_) {
      if (balance == 0) continue;
      refuse(fmt::format("a coast ends in the sea at ({:.4f}, {:.4f})", in_degrees(position.x),
                         in_degrees(position.y) - 90));
    }
    return std::move(map_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw nacre::setup_error({fmt::format("{}: {}", name_, problem),
                              "the numbers of a binned file of GSHHG do not contradict each other",
                              "get the file again, as from Debian's package gmt-gshhg-low"});
  }
  template <class Array>
  static std::int64_t size_of(const Array& values) {
    return static_cast<std::int64_t>(values.size());
  }
  [[nodiscard]] double in_degrees(std::int64_t units) const {
    return 360.0 * static_cast<double>(units) / static_cast<double>(map_.turn);
  }

  void demand_sizes() const {
    const bool whole_turn = read_.columns > 0 && read_.columns <= 21600 && read_.columns * read_.bin_minutes == 21600;
    if (!whole_turn || read_.rows * 2 != read_.columns) {
      refuse(fmt::format("{} x {} bins of {} minutes do not cover the earth", read_.columns, read_.rows,
                         read_.bin_minutes));
    }
    if (size_of(read_.first_segment) != read_.columns * read_.rows ||
        size_of(read_.segments) != read_.columns * read_.rows) {
      refuse(fmt::format("it has {} bins, and not {} x {}", read_.first_segment.size(), read_.columns, read_.rows));
    }
    const std::size_t segments = read_.embedded.size();
    if (read_.first_point.size() != segments || read_.polygon.size() != segments || read_.x.size() != read_.y.size()) {
      refuse("arrays that belong together have different sizes");
    }
  }

  void add_segment(std::size_t bin, std::size_t segment) {
    const auto embedded = static_cast<std::uint32_t>(read_.embedded[segment]);
    const std::uint32_t exit = embedded & 7, entry = (embedded >> 3) & 7, level = (embedded >> 6) & 7;
    const std::int64_t count = embedded >> 9, first = read_.first_point[segment];
    const std::int64_t polygon = read_.polygon[segment];
    const bool closed = entry == closed_in_bin;
    if (exit > closed_in_bin || entry > closed_in_bin || closed != (exit == closed_in_bin) || level < 1 ||
        level > level_of_grounding_line) {
      refuse(fmt::format("segment {} has the sides {} and {}, and the level {}", segment, entry, exit, level));
    }
    if (count == 0 || first < 0 || first + count > size_of(read_.x)) {
      refuse(fmt::format("segment {} has points from {} to {} of {}", segment, first, first + count, read_.x.size()));
    }
    if (polygon < 0 || polygon >= size_of(read_.km2)) {
      refuse(fmt::format("segment {} is of polygon {} of {}", segment, polygon, read_.km2.size()));
    }
    if (level == level_of_grounding_line) return;
    coast_line line{.km2 = read_.km2[static_cast<std::size_t>(polygon)]};
    for (std::int64_t k = first; k < first + count; ++k) line.points.push_back(place(bin, static_cast<std::size_t>(k)));
    if (closed && line.points.front() != line.points.back()) line.points.push_back(line.points.front());
    if (!closed) {
      ++ends_[on_earth(line.points.front())];
      --ends_[on_earth(line.points.back())];
    }
    map_.lines.push_back(std::move(line));
  }

  [[nodiscard]] grid_point place(std::size_t bin, std::size_t k) const {
    const auto number = static_cast<std::int64_t>(bin);
    const std::int64_t column = number % read_.columns, row = read_.rows - 1 - number / read_.columns;
    return {coast_step * (column * steps_a_bin + static_cast<std::uint16_t>(read_.x[k])),
            coast_step * (row * steps_a_bin + static_cast<std::uint16_t>(read_.y[k]))};
  }
  [[nodiscard]] grid_point on_earth(const grid_point& point) const { return {point.x % map_.turn, point.y}; }

  const gshhg_arrays& read_;
  const std::string& name_;
  coast_map map_{};
  std::map<grid_point, int> ends_{};  // how many lines begin there, less those that end there
};

}  // namespace

coast_map map_of(const gshhg_arrays& read, const std::string& name) { return map_maker(read, name).make(); }

}  // namespace mesh2d
