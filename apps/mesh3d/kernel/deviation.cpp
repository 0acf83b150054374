// SPDX-License-Identifier: Apache-2.0
// Halves pieces of triangles.
#include "kernel/deviation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace mesh3d {
namespace {

/// Radii of pieces, by length: of those that have one length, of those that are measured to tell the greatest distance,
/// of those whose distance is beyond the bound for sure, and of the smallest ones.
constexpr double cut_radius = 0.5, even_radius = 0.2, beyond_radius = 0.1, least_radius = 0.02;
/// Pieces that are nearer are not halved to tell how near they are.
constexpr double near_distance = 0.3;
/// No two points of the unit cube are further apart.
constexpr double far = 2;

point middle_of(const std::array<point, 3>& part) { return (part[0] + part[1] + part[2]) * (1.0 / 3); }

double radius_of(const std::array<point, 3>& part, const point& middle) {
  return std::sqrt(
      std::max({squared_length(part[0] - middle), squared_length(part[1] - middle), squared_length(part[2] - middle)}));
}

/// Cuts the longest side in its middle.
std::pair<std::array<point, 3>, std::array<point, 3>> halves(const std::array<point, 3>& part) {
  unsigned longest = 0;
  const auto square = [&](unsigned k) { return squared_length(part[(k + 1) % 3] - part[k]); };
  for (const unsigned k : {1U, 2U}) {
    if (square(k) > square(longest)) longest = k;
  }
  const point &source = part[longest], &target = part[(longest + 1) % 3], &apex = part[(longest + 2) % 3];
  const point position = (source + target) * 0.5;
  return {{source, position, apex}, {position, target, apex}};
}

bool is_outside(const std::array<point, 3>& part, const half_open_box& box) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto [least, most] =
        std::minmax({coordinate(part[0], axis), coordinate(part[1], axis), coordinate(part[2], axis)});
    if (most < coordinate(box.low, axis) || least >= coordinate(box.high, axis)) return true;
  }
  return false;
}

bool holds(const half_open_box& box, const point& p) {
  return p.x >= box.low.x && p.y >= box.low.y && p.z >= box.low.z && p.x < box.high.x && p.y < box.high.y &&
         p.z < box.high.z;
}

}  // namespace

void deviation::merge(const deviation& other) noexcept {
  area += other.area;
  if (other.by_length < by_length || (other.by_length == by_length && !(other.place < place))) return;
  by_length = other.by_length;
  distance = other.distance;
  place = other.place;
}

double deviation_meter::distance(const point& p, double limit) const {
  std::optional<point> nearest = surface_.nearest(p, limit);
  if (!nearest) nearest = surface_.nearest(p, far);
  return nearest ? std::sqrt(squared_length(p - *nearest)) : far;
}

void deviation_meter::cut(const piece& part, const half_open_box* box, deviation& deviation) const {
  if (box != nullptr && is_outside(part, *box)) return;
  const point middle = middle_of(part);
  const double length = size_.at(middle);
  if (radius_of(part, middle) > length * cut_radius) {
    const auto [first, second] = halves(part);
    cut(first, box, deviation);
    return cut(second, box, deviation);
  }
  if (box != nullptr && !holds(*box, middle)) return;
  deviation.area += std::sqrt(squared_length(cross(part[1] - part[0], part[2] - part[0]))) / 2;
  look(part, length, length, deviation);
}

void deviation_meter::look(const piece& part, double length, double limit, deviation& deviation) const {
  const point middle = middle_of(part);
  const double off = distance(middle, limit), radius = radius_of(part, middle);
  const double least = off / length, most = (off + radius) / length;
  const bool is_within = most <= bound_, is_beyond = least > bound_;
  deviation.merge({.by_length = least, .distance = off, .place = middle});
  const bool is_known = is_within   ? most <= near_distance || radius <= even_radius * length
                        : is_beyond ? radius <= beyond_radius * length
                                    : radius <= least_radius * length;
  if (is_known || surface_.empty()) {
    // Near to the bound, what cannot be told from above it counts as that.
    if (!is_within && !is_beyond) deviation.merge({.by_length = most, .distance = off, .place = middle});
    return;
  }
  const auto [first, second] = halves(part);
  // A middle of a half is within this piece.
  const double reach = (off + radius) * (1 + 1e-9);
  look(first, length, reach, deviation);
  look(second, length, reach, deviation);
}

}  // namespace mesh3d
