// SPDX-License-Identifier: Apache-2.0
// A fan, or ears (G. Meisters: "Polygons have ears", 1975).
#include "surface/polygon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace mesh3d {
namespace {

struct flat_point {
  double x = 0, y = 0;
  bool operator==(const flat_point&) const = default;
};

/// Twice the area of a triangle, positive when its corners are counterclockwise.
double area(const flat_point& a, const flat_point& b, const flat_point& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// The corners without the coordinate in which the face's normal is longest, counterclockwise.
std::vector<flat_point> flattened(const std::vector<point>& points, const std::vector<std::uint32_t>& corners) {
  point normal;  // by M. Newell's formula, of the corners relative to the first
  const point& origin = points[corners.front()];
  for (std::size_t k = 0; k < corners.size(); ++k) {
    normal = normal + cross(points[corners[k]] - origin, points[corners[(k + 1) % corners.size()]] - origin);
  }
  unsigned axis = 0;
  for (const unsigned other : {1U, 2U}) {
    if (std::abs(coordinate(normal, other)) > std::abs(coordinate(normal, axis))) axis = other;
  }
  const bool from_behind = coordinate(normal, axis) < 0;
  std::vector<flat_point> flat;
  for (const std::uint32_t each : corners) {
    const point p = points[each] - origin;
    const double x = coordinate(p, (axis + 1) % 3), y = coordinate(p, (axis + 2) % 3);
    flat.push_back(from_behind ? flat_point{y, x} : flat_point{x, y});
  }
  return flat;
}

/// What is left of a face while ears are cut from it.
class remaining_polygon {
 public:
  explicit remaining_polygon(std::vector<flat_point> flat) : corners_(std::move(flat)) {
    for (std::uint32_t k = 0; k < corners_.size(); ++k) left_.push_back(k);
  }
  [[nodiscard]] std::size_t corners() const noexcept { return left_.size(); }

  /// Whether the boundary turns once around, to the left, as it does unless it crosses itself.
  [[nodiscard]] bool turns_once() const {
    double turns = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      const flat_point in{at(k).x - at(before(k)).x, at(k).y - at(before(k)).y};
      const flat_point out{at(after(k)).x - at(k).x, at(after(k)).y - at(k).y};
      turns += std::atan2(in.x * out.y - in.y * out.x, in.x * out.x + in.y * out.y);
    }
    return std::abs(turns - 2 * std::numbers::pi) < 1;  // it is a multiple of 2 pi, but for rounding
  }
  /// Whether all triangles of a fan from the first corner face as the whole does, and none covers another, if the
  /// boundary turns once.
  [[nodiscard]] bool is_fan() const {
    for (std::size_t k = 0; k < left_.size(); ++k) {
      if (k > 1 && !(area(at(0), at(k - 1), at(k)) > 0)) return false;
      if (area(at(before(k)), at(k), at(after(k))) < 0) return false;
    }
    return true;
  }

  /// Cuts one ear off; false when there is none.
  bool cut(std::array<std::uint32_t, 3>& ear) {
    for (std::size_t step = 0; step < left_.size(); ++step) {
      const std::size_t k = (begin_ + step) % left_.size();
      if (!is_ear(k)) continue;
      ear = {left_[before(k)], left_[k], left_[after(k)]};
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(k));
      begin_ = k + 1;  // ears in turn, so that not all triangles meet at one corner
      return true;
    }
    return false;
  }

 private:
  [[nodiscard]] const flat_point& at(std::size_t k) const { return corners_[left_[k]]; }
  [[nodiscard]] std::size_t before(std::size_t k) const { return (k + left_.size() - 1) % left_.size(); }
  [[nodiscard]] std::size_t after(std::size_t k) const { return (k + 1) % left_.size(); }

  [[nodiscard]] bool is_ear(std::size_t k) const {
    const flat_point &a = at(before(k)), &b = at(k), &c = at(after(k));
    if (!(area(a, b, c) > 0)) return false;
    return std::none_of(left_.begin(), left_.end(), [&](std::uint32_t other) {
      const flat_point& p = corners_[other];
      return p != a && p != b && p != c && area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0;
    });
  }

  std::vector<flat_point> corners_;
  std::vector<std::uint32_t> left_{};
  std::size_t begin_ = 0;
};

}  // namespace

std::vector<std::array<std::uint32_t, 3>> cut_polygon(const std::vector<point>& points,
                                                      const std::vector<std::uint32_t>& corners) {
  std::vector<std::array<std::uint32_t, 3>> values;
  remaining_polygon left(flattened(points, corners));
  if (corners.size() > 3 && !left.turns_once()) return {};
  if (corners.size() == 3 || left.is_fan()) {
    for (std::size_t k = 2; k < corners.size(); ++k) values.push_back({corners[0], corners[k - 1], corners[k]});
    return values;
  }
  if (corners.size() > concave_corners_max) return {};
  while (left.corners() > 2) {
    std::array<std::uint32_t, 3> ear{};
    if (!left.cut(ear)) return {};
    values.push_back({corners[ear[0]], corners[ear[1]], corners[ear[2]]});
  }
  return values;
}

}  // namespace mesh3d
