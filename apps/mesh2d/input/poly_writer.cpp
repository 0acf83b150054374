// SPDX-License-Identifier: Apache-2.0
// Numbers are written with as few digits as tell them apart from all other doubles.
#include "input/poly_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include <fmt/format.h>

#include <nacre/error.hpp>
#include <program_options.hpp>

#include "meshing/output_file.hpp"

namespace mesh2d {

void write_poly(const pslg& input, std::ostream& stream) {
  stream << "# " << input.source << "\n" << fmt::format("{} 2 0 0\n", input.points.size());
  const std::int64_t first = input.points.empty() ? 1 : input.points.front().name;
  for (std::size_t k = 0; k < input.points.size(); ++k) {
    const point& point = input.points[k].position;
    stream << fmt::format("{} {} {}\n", first + static_cast<std::int64_t>(k), point.x, point.y);
  }
  stream << fmt::format("{} 0\n", input.segments.size());
  for (std::size_t k = 0; k < input.segments.size(); ++k) {
    stream << fmt::format("{} {} {}\n", k + 1, first + input.segments[k].begin, first + input.segments[k].end);
  }
  stream << fmt::format("{}\n", input.holes.size());
  for (std::size_t k = 0; k < input.holes.size(); ++k) {
    stream << fmt::format("{} {} {}\n", k + 1, input.holes[k].position.x, input.holes[k].position.y);
  }
  stream << fmt::format("{}\n", input.regions.size());
  for (std::size_t k = 0; k < input.regions.size(); ++k) {
    const pslg::region& each = input.regions[k];
    stream << fmt::format("{} {} {} {} {}\n", k + 1, each.position.x, each.position.y, each.attribute,
                          each.area_max.value_or(-1));
  }
}

void write_poly(const pslg& input, const std::string& path) {
  meshing::write_file(path, [&](std::ostream& stream) { write_poly(input, stream); });
}

void check_poly_name(const std::string& path, const std::string& input, const std::string& out) {
  if (!meshing::ends_with(path, ".poly")) {
    throw nacre::setup_error({fmt::format("--write-poly {} has another ending", path),
                              "mesh2d and Triangle know the format by it", fmt::format("try {}.poly", path)});
  }
  nacre::demand_other_file(path, input);
  nacre::demand_other_file(path, out);
}

}  // namespace mesh2d
