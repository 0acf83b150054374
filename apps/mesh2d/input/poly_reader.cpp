// SPDX-License-Identifier: Apache-2.0
// Reads lines of numbers; every problem is reported with its line.
#include "input/poly_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <nacre/error.hpp>

namespace mesh2d {
namespace {

class line_reader {
 public:
  line_reader(std::istream& stream, std::string name) : input_(stream), name_(std::move(name)) {}

  /// Goes to the next line that has more than a comment; false at the end of the file.
  bool next() {
    std::string text;
    while (std::getline(input_, text)) {
      constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors put it before the text
      if (++line_ == 1 && text.compare(0, byte_order_mark.size(), byte_order_mark) == 0) {
        text.erase(0, byte_order_mark.size());
      }
      text = text.substr(0, text.find('#'));
      words_.clear();
      constexpr std::string_view blank = " \t\r\f\v,";
      for (std::size_t index = text.find_first_not_of(blank); index != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(blank, index), text.size());
        words_.push_back(text.substr(index, end - index));
        index = text.find_first_not_of(blank, end);
      }
      if (!words_.empty()) return true;
    }
    return false;
  }
  void demand(const std::string& wanted) {
    if (next()) return;
    ++line_;
    refuse("the file ends here", fmt::format("{} should follow", wanted), "add what is missing, or correct the counts");
  }
  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
  [[nodiscard]] std::uint32_t line() const noexcept { return line_; }

  [[noreturn]] void refuse(const std::string& problem, const std::string& reason, const std::string& remedy) const {
    throw nacre::setup_error({fmt::format("{}:{}: {}", name_, line_, problem), reason, remedy});
  }

  template <class Number>
  [[nodiscard]] Number number(std::size_t position, const std::string& wanted) const {
    if (position >= words_.size()) {
      refuse(fmt::format("{} numbers", words_.size()), fmt::format("number {} should be {}", position + 1, wanted),
             "add it");
    }
    Number value{};
    const std::string& word = words_[position];
    const char* const begin = word.data() + (word.size() > 1 && word[0] == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(begin, word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      refuse(fmt::format("'{}' is no {}", word, std::is_integral_v<Number> ? "whole number" : "number"),
             fmt::format("number {} of the line is {}", position + 1, wanted), "correct it");
    }
    return value;
  }

  std::uint32_t count(const std::string& wanted) const {
    const auto value = number<std::int64_t>(0, wanted);
    if (value >= 0 && value <= 1 << 28) return static_cast<std::uint32_t>(value);
    refuse(fmt::format("{} is no count", value), fmt::format("{} may be from 0 to {}", wanted, 1 << 28), "correct it");
  }

 private:
  std::istream& input_;
  std::string name_;
  std::uint32_t line_ = 0;
  std::vector<std::string> words_;
};

point place(const line_reader& lines, std::size_t position) {
  return {lines.number<double>(position, "an x coordinate"), lines.number<double>(position + 1, "a y coordinate")};
}

/// Points, whose first line the reader is at already.
void read_points(line_reader& lines, pslg& pslg) {
  const std::uint32_t count = lines.count("the number of points");
  if (lines.size() > 1 && lines.number<std::int64_t>(1, "the dimension") != 2) {
    lines.refuse("the dimension is not 2", "meshes are of the plane", "write 2 behind the number of points");
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    lines.demand(fmt::format("point {} of {}", k + 1, count));
    const auto name = lines.number<std::int64_t>(0, "the number of the point");
    const std::int64_t expected = pslg.points.empty() ? name : pslg.points.front().name + k;
    if (name != expected) {
      lines.refuse(fmt::format("point {} stands where point {} should", name, expected), "points are numbered in order",
                   "correct the numbers, or the count of points");
    }
    pslg.points.push_back({place(lines, 1), lines.line(), name});
  }
}

std::uint32_t end_of_segment(const line_reader& lines, const pslg& read, std::size_t position) {
  const auto name = lines.number<std::int64_t>(position, "the number of a point");
  const std::int64_t first = read.points.empty() ? 0 : read.points.front().name;
  if (name >= first && name < first + static_cast<std::int64_t>(read.points.size())) {
    return static_cast<std::uint32_t>(name - first);
  }
  lines.refuse(fmt::format("there is no point {}", name),
               fmt::format("points are numbered from {} to {}", first,
                           first + static_cast<std::int64_t>(read.points.size()) - 1),
               "correct the segment");
}

void read_segments(line_reader& lines, pslg& pslg) {
  lines.demand("the number of segments");
  const std::uint32_t count = lines.count("the number of segments");
  for (std::uint32_t k = 0; k < count; ++k) {
    lines.demand(fmt::format("segment {} of {}", k + 1, count));
    const auto name = lines.number<std::int64_t>(0, "the number of the segment");
    pslg.segments.push_back({end_of_segment(lines, pslg, 1), end_of_segment(lines, pslg, 2), lines.line(), name});
  }
}

void read_holes_and_regions(line_reader& lines, pslg& pslg) {
  lines.demand("the number of holes");
  const std::uint32_t holes = lines.count("the number of holes");
  for (std::uint32_t k = 0; k < holes; ++k) {
    lines.demand(fmt::format("hole {} of {}", k + 1, holes));
    pslg.holes.push_back({place(lines, 1), lines.line(), lines.number<std::int64_t>(0, "the number of the hole")});
  }
  if (!lines.next()) return;
  const std::uint32_t regions = lines.count("the number of regions");
  for (std::uint32_t k = 0; k < regions; ++k) {
    lines.demand(fmt::format("region {} of {}", k + 1, regions));
    pslg::region each{.position = place(lines, 1), .line = lines.line()};
    each.name = lines.number<std::int64_t>(0, "the number of the region");
    each.attribute = lines.number<double>(3, "the attribute");
    const double area = lines.size() > 4 ? lines.number<double>(4, "the greatest area") : -1;
    if (area >= 0 || std::isnan(area)) each.area_max = area;
    pslg.regions.push_back(each);
  }
  if (lines.next()) lines.refuse("more lines than regions", "nothing follows the regions", "correct the counts");
}

}  // namespace

pslg read_poly(std::istream& poly, const std::string& name, std::istream* node, const std::string& node_name) {
  pslg read;
  read.source = name;
  line_reader lines(poly, name);
  lines.demand("the number of points");
  read_points(lines, read);
  if (read.points.empty() && node != nullptr) {
    line_reader points(*node, node_name);
    points.demand("the number of points");
    read_points(points, read);
    for (auto& each : read.points) each.line = 0;  // lines of `name` are meant elsewhere
  }
  read_segments(lines, read);
  read_holes_and_regions(lines, read);
  return read;
}

pslg read_poly(const std::string& path) {
  std::ifstream poly(path);
  if (!poly) {
    throw nacre::setup_error({fmt::format("{} cannot be read", path), "it should be a .poly file", "check the name"});
  }
  const std::string node_name = path.substr(0, path.rfind('.')) + ".node";
  std::ifstream node(node_name);
  pslg read = read_poly(poly, path, node ? &node : nullptr, node_name);
  if (poly.bad())
    throw nacre::setup_error(
        {fmt::format("{} cannot be read to its end", path), "an error of the system", "try again"});
  return read;
}

}  // namespace mesh2d
