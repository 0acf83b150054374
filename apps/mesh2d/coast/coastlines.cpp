// SPDX-License-Identifier: Apache-2.0
// Coasts: from a file, or a region's name, to points, segments and holes.
#include "coast/coastlines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "coast/clip.hpp"
#include "coast/known_coasts.hpp"
#include "coast/planar_map.hpp"

namespace mesh2d {
namespace {

constexpr const char* data_folder = "/usr/share/gmt-gshhg";

std::string file_of(const known_coast& coast) {
  std::string path = fmt::format("{}/binned_GSHHS_{}.nc", data_folder, coast.resolution);
  std::error_code none;
  if (std::filesystem::exists(path, none)) return path;
  throw nacre::setup_error({fmt::format("{} needs {}", coast.name, path), "there is no such file",
                            "install Debian's package gmt-gshhg-low, or name a binned_GSHHS_*.nc file"});
}

/// The rectangle on odd coordinates, at most a step of the data smaller than the region.
grid_rectangle rectangle_of(const geographic_region& region, std::int64_t turn) {
  const auto units = [turn](double degrees) {
    return std::llround(degrees / 360 * static_cast<double>(turn) / coast_step) * coast_step;
  };
  const bool whole_turn = region.east - region.west == 360;
  const std::int64_t west = units(region.west) + 1;
  return {west, whole_turn ? west + turn : units(region.east) - 1, units(region.south + 90) + 1,
          units(region.north + 90) - 1};
}

struct projected_map {
  planar_map map{};
  double unit = 1;  // kilometres, a power of two: points of the mesh are exactly those of the map
};

projected_map project(planar_map&& clipped, const projection& onto, std::int64_t turn) {
  projected_map map{.map = std::move(clipped)};
  std::vector<point> points;
  double largest = 0;
  for (const grid_point& each : map.map.vertices) {
    const double degrees_a_unit = 360.0 / static_cast<double>(turn);
    points.push_back(
        onto(static_cast<double>(each.x) * degrees_a_unit, static_cast<double>(each.y) * degrees_a_unit - 90));
    largest = std::max({largest, std::abs(points.back().x), std::abs(points.back().y)});
  }
  map.unit = std::exp2(std::ceil(std::log2(largest)) - 29);
  for (std::size_t v = 0; v < points.size(); ++v) {
    map.map.vertices[v] = {std::llround(points[v].x / map.unit), std::llround(points[v].y / map.unit)};
  }
  return map;
}

void add_holes_and_regions(pslg& pslg, const projected_map& map, kept_side keep) {
  const std::vector<planar_face> faces = faces_of(map.map);
  const bool any_coast = std::any_of(faces.begin(), faces.end(), [](const auto& each) { return each.is_known; });
  const bool any_kept = std::any_of(faces.begin(), faces.end(), [&](const planar_face& each) {
    return keep == kept_side::both || each.is_land == (keep == kept_side::land);
  });
  if (!any_coast || !any_kept) {
    throw nacre::setup_error({fmt::format("{}: the region has no {}", pslg.source, any_coast ? "such side" : "coast"),
                              "a mesh of coasts has at least one", "choose another --region, --keep or --min-area"});
  }
  for (const planar_face& each : faces) {
    const point point{each.x * map.unit, each.y * map.unit};
    const auto name = static_cast<std::int64_t>(pslg.holes.size() + pslg.regions.size()) + 1;
    if (keep == kept_side::both) {
      if (each.is_land) pslg.regions.push_back({.position = point, .attribute = 1, .name = name});
    } else if (each.is_land != (keep == kept_side::land)) {
      pslg.holes.push_back({.position = point, .name = name});
    }
  }
}

pslg to_pslg(const projected_map& map, const std::string& name) {
  pslg result{.source = name};
  std::vector<std::uint32_t> numbers(map.map.vertices.size(), 0);
  const auto number = [&](std::uint32_t v) {
    if (numbers[v] == 0) {
      const grid_point& point = map.map.vertices[v];
      result.points.push_back(
          {.position = {static_cast<double>(point.x) * map.unit, static_cast<double>(point.y) * map.unit},
           .name = static_cast<std::int64_t>(result.points.size()) + 1});
      numbers[v] = static_cast<std::uint32_t>(result.points.size());
    }
    return numbers[v] - 1;
  };
  for (const planar_edge& each : map.map.edges) {
    const std::uint32_t a = number(each.begin), b = number(each.end);
    result.segments.push_back({.begin = a, .end = b, .name = static_cast<std::int64_t>(result.segments.size()) + 1});
  }
  return result;
}

}  // namespace

pslg coast_of(const coast_map& map, const coast_options& asked, const geographic_region& region,
              const std::string& name) {
  const grid_rectangle grid_rectangle = rectangle_of(region, map.turn);
  if (grid_rectangle.west >= grid_rectangle.east || grid_rectangle.south >= grid_rectangle.north) {
    throw nacre::setup_error({fmt::format("{}: the region is empty", name),
                              fmt::format("the file tells places apart that are {:.2g} degrees from each other",
                                          360.0 * coast_step / static_cast<double>(map.turn)),
                              "choose a larger --region"});
  }
  const projection onto(asked.projected, region);
  // Straight lines of the map are straight on cylinders; elsewhere the border is curved.
  const std::int64_t step = onto.is_azimuthal() ? map.turn / 1440 : map.turn;
  projected_map projected = project(clip(map, grid_rectangle, asked.km2_min, step), onto, map.turn);
  make_planar(projected.map, name);
  pslg result = to_pslg(projected, name);
  add_holes_and_regions(result, projected, asked.keep);
  return result;
}

pslg read_coast(const std::string& input, const coast_options& asked) {
  const known_coast* const known = find_known_coast(input);
  const geographic_region usual = known != nullptr ? known->region : geographic_region{-180, 180, -90, 90};
  return coast_of(read_gshhg(known != nullptr ? file_of(*known) : input), asked, asked.region.value_or(usual), input);
}

}  // namespace mesh2d
