// SPDX-License-Identifier: Apache-2.0
// Checks and mends points and segments.
#include "kernel/place_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "geometry/predicates.hpp"
#include "kernel/delaunay.hpp"

namespace mesh2d {
namespace {

void check_points(const pslg& input) {
  if (input.points.size() < 3) {
    refuse(input, 0, fmt::format("{} points", input.points.size()), "a domain has at least three corners",
           "give more points and the segments between them");
  }
  for (const auto& [position, line, name] : input.points) {
    for (const double value : {position.x, position.y}) {
      if (std::isfinite(value) && std::abs(value) <= coordinate_max && value == kept_in_range(value)) continue;
      refuse(input, line, fmt::format("point {} has the coordinate {}", name, value),
             fmt::format("coordinates are 0 or from {} to {} in size", coordinate_min, coordinate_max),
             "scale the input");
    }
  }
}

/// Gives points that lie together, up to the least distance, the place of the first one of them.
void merge_points(const pslg& input, domain& domain) {
  const double near = least_distance(input);
  std::vector<std::uint32_t> order(input.points.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    order[k] = k;
    domain.points.push_back(input.points[k].position);
  }
  const std::vector<point> given = domain.points;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(given[a].x, a) < std::pair(given[b].x, b); });
  std::vector<std::uint8_t> taken(order.size());
  std::size_t merged = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const point& position = given[order[k]];
    if (taken[order[k]] != 0) continue;
    for (std::size_t other = k + 1; other < order.size() && given[order[other]].x - position.x <= near; ++other) {
      const point& remote = given[order[other]];
      if (std::abs(remote.y - position.y) > near || std::exchange(taken[order[other]], std::uint8_t{1}) != 0) continue;
      domain.points[order[other]] = position;
      ++merged;
    }
  }
  if (merged > 0)
    domain.notes.push_back(fmt::format("{} points lie where others do and were merged with them", merged));
}

/// The points that each segment passes, from its first to its last.
using courses = std::vector<std::vector<std::uint32_t>>;

/// Triangulates the points and constrains the segments.
void constrain_segments(const pslg& input, const courses& through, domain& domain) {
  boxed_triangulation boxed = triangulate(domain.points);
  domain.mesh = std::move(boxed.mesh);
  domain.names = {};
  domain.incomplete.assign(input.segments.size(), 0);
  for (std::uint32_t k = 0; k < input.segments.size(); ++k) {
    const auto& [begin, end, line, name] = input.segments[k];
    bool overlaps = false;
    for (std::size_t step = 1; step < through[k].size(); ++step) {
      const index source = boxed.vertex_of_point[through[k][step - 1]],
                  target = boxed.vertex_of_point[through[k][step]];
      const auto other = insert_segment(domain.mesh, domain.names, source, target, k, overlaps);
      if (!other) continue;
      refuse(input, line, fmt::format("segment {} crosses {}", name, segment_text(input, *other)),
             "segments may meet at points of the input only", "add their common point, and split both there");
    }
    const bool no_length = boxed.vertex_of_point[begin] == boxed.vertex_of_point[end];
    domain.incomplete[k] = no_length ? 3 : overlaps ? 1 : 0;
  }
}

/// A point that is too near to a side of a segment.
struct near_point {
  std::uint32_t segment = none, point = none;
  double height = 0;
};

std::vector<near_point> near_points(const pslg& input, const domain& domain) {
  const triangulation& mesh = domain.mesh;
  const double least = least_distance(input);
  std::vector<near_point> match;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      const index a = mesh.origin(s), b = mesh.target(s), c = mesh.apex(s);
      if (!mesh.constrained(s) || c >= input.points.size()) continue;
      const point along = mesh.at(b) - mesh.at(a);
      const double length = squared_length(along), height = std::abs(twice_area(mesh, t)) / std::sqrt(length);
      if (height >= least) continue;
      // A point that goes on in the direction of the side is no trouble: outlines bend by roundings.
      const double place = dot(along, mesh.at(c) - mesh.at(a));
      if (place > 0 && place < length) match.push_back({domain.names.find(a, b), c, height});
    }
  }
  return match;
}

/// Leads segments through the points beside them. Returns the first point for which that does not help, if there is
/// one.
std::optional<near_point> bend(const domain& domain, const std::vector<near_point>& near, courses& through) {
  for (const near_point& each : near) {
    std::vector<std::uint32_t>& course = through[each.segment];
    const point point = domain.points[course.front()], along = domain.points[course.back()] - point;
    const auto place = [&](std::uint32_t p) { return dot(along, domain.points[p] - point); };
    const bool passed = std::find(course.begin(), course.end(), each.point) != course.end();
    if (passed || place(each.point) <= 0 || place(each.point) >= squared_length(along)) return each;
    const auto next = std::find_if(course.begin() + 1, course.end() - 1,
                                   [&](std::uint32_t p) { return place(p) > place(each.point); });
    course.insert(next, each.point);
  }
  return std::nullopt;
}

[[noreturn]] void refuse_near(const pslg& input, const near_point& each) {
  const auto& value = input.points[each.point];
  refuse(input, value.line,
         fmt::format("point {} lies {:.2g} beside {}", value.name, each.height, segment_text(input, each.segment)),
         fmt::format("no triangle fits between them: with these coordinates {:.2g} is the least distance",
                     least_distance(input)),
         "move the point away, or onto the segment, or scale or move the input towards the origin");
}

}  // namespace

void refuse(const pslg& input, std::uint32_t line, const std::string& problem, const std::string& reason,
            const std::string& remedy) {
  throw nacre::setup_error({place_of(input, line) + problem, reason, remedy});
}

std::string segment_text(const pslg& input, std::uint32_t k) {
  const auto& s = input.segments[k];
  return s.line == 0 ? fmt::format("segment {}", s.name) : fmt::format("segment {} of line {}", s.name, s.line);
}

double least_distance(const pslg& input) {
  double most = 0;
  for (const auto& each : input.points) most = std::max({most, std::abs(each.position.x), std::abs(each.position.y)});
  return most * resolution;
}

void place_input(const pslg& input, domain& domain) {
  check_points(input);
  merge_points(input, domain);
  courses through;
  for (const auto& each : input.segments) through.push_back({each.begin, each.end});
  std::size_t bends = 0;
  for (int attempt = 0;; ++attempt) {
    constrain_segments(input, through, domain);
    const std::vector<near_point> near = near_points(input, domain);
    if (near.empty()) break;
    if (attempt == 4) refuse_near(input, near.front());
    if (const auto hopeless = bend(domain, near, through)) refuse_near(input, *hopeless);
    bends += near.size();
  }
  if (bends > 0) domain.notes.push_back(fmt::format("segments lead through {} points that lie beside them", bends));
  const auto left_out = std::count(domain.incomplete.begin(), domain.incomplete.end(), 3);
  if (left_out > 0) domain.notes.push_back(fmt::format("{} segments have no length and were left out", left_out));
}

}  // namespace mesh2d
