// SPDX-License-Identifier: Apache-2.0
// The input of a mesh: a planar straight-line graph with holes and regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/point.hpp"

namespace mesh2d {

/// Points and segments, as in Triangle's .poly files. `line` is a line of the file, 0 for built-in shapes.
struct pslg {
  struct input_point {
    point position{};
    std::uint32_t line = 0;
    std::int64_t name = 0;  // its number in the file
  };
  struct input_segment {
    std::uint32_t begin = 0, end = 0;  // positions in `points`
    std::uint32_t line = 0;
    std::int64_t name = 0;
  };
  struct hole {
    point position{};
    std::uint32_t line = 0;
    std::int64_t name = 0;
  };
  struct region {
    point position{};
    double attribute = 0;
    std::optional<double> area_max{};
    std::uint32_t line = 0;
    std::int64_t name = 0;
  };

  std::string source{};  // the name of the file or of the shape
  std::vector<input_point> points{};
  std::vector<input_segment> segments{};
  std::vector<hole> holes{};
  std::vector<region> regions{};
};

/// "shape.poly:12: ", or "key: " where there is no line.
std::string place_of(const pslg& input, std::uint32_t line);

}  // namespace mesh2d
