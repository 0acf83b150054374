// SPDX-License-Identifier: Apache-2.0
// Which triangles are good enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "kernel/domain.hpp"
#include "size/size_field.hpp"

namespace mesh2d {

/// A place around which the mesh is finer: sides should be `length` long there, and `growth` longer for each unit of
/// distance.
struct size_source {
  point position{};
  double length = 0;
  double growth = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(position.x, position.y, length, growth);
  }
};

/// The bounds for triangles: the least angle, and the greatest area, which may depend on the region and the place.
class size_rule {
 public:
  size_rule() = default;
  /// `degrees` is at most 30, beyond which refinement may not end; an `area_max` of 0 is no bound.
  size_rule(double degrees, double area_max, std::vector<region_rule> regions, std::vector<size_source> sources)
      : sine_squared_(std::pow(std::sin(degrees * std::numbers::pi / 180), 2)),
        degrees_(degrees),
        sources_(std::move(sources)) {
    const double everywhere = area_max > 0 ? area_max : std::numeric_limits<double>::infinity();
    for (const region_rule& each : regions) {
      area_max_.push_back(each.area_max > 0 ? std::min(each.area_max, everywhere) : everywhere);
    }
    if (area_max_.empty()) area_max_.push_back(everywhere);
    area_least_ = *std::min_element(area_max_.begin(), area_max_.end());
  }

  /// For a mesh that is the triangulation of the input: no triangle is too large or too thin, and no side is split.
  static size_rule without_refinement(std::vector<region_rule> regions) {
    for (region_rule& each : regions) each.area_max = 0;
    size_rule result(0, 0, std::move(regions), {});
    result.refines_ = false;
    return result;
  }
  [[nodiscard]] bool refines() const noexcept { return refines_; }

  /// Bounds the lengths of sides by a field, too, which must outlive the rule. A rule that has moved to another rank
  /// has no field until one is attached there. Null: no field.
  void attach(const size_field* field) noexcept { field_ = field; }

  [[nodiscard]] double degrees() const noexcept { return degrees_; }
  /// Infinity where there is no bound.
  [[nodiscard]] double area_max(std::uint32_t region, const point& centroid) const noexcept {
    double bound = area_max_[region];
    for (const size_source& each : sources_) {
      bound = std::min(bound, area_of(each.length + each.growth * std::sqrt(squared_length(centroid - each.position))));
    }
    return field_ == nullptr ? bound : std::min(bound, field_factor_ * area_of(field_->length(centroid)));
  }
  [[nodiscard]] bool has_field() const noexcept { return field_ != nullptr; }
  [[nodiscard]] bool bounds_area() const noexcept {
    return !sources_.empty() || field_ != nullptr || area_least_ < 1e300;
  }

  /// A rule for triangles with `factor` times the area, and angles of at least `degrees`.
  [[nodiscard]] size_rule coarser(double factor, double degrees) const {
    size_rule result = *this;
    result.degrees_ = std::max(degrees_, degrees);
    result.sine_squared_ = std::pow(std::sin(result.degrees_ * std::numbers::pi / 180), 2);
    for (double& each : result.area_max_) each *= factor;
    result.area_least_ *= factor;
    for (size_source& each : result.sources_) {
      each.length *= std::sqrt(factor);
      each.growth *= std::sqrt(factor);
    }
    result.field_factor_ *= factor;
    return result;
  }
  /// A rule that bounds all areas by `area_max`, too.
  [[nodiscard]] size_rule also_below(double area_max) const {
    size_rule result = *this;
    for (double& each : result.area_max_) each = std::min(each, area_max);
    result.area_least_ = std::min(area_least_, area_max);
    return result;
  }

  [[nodiscard]] bool too_large(const triangulation& mesh, index t) const noexcept {
    const triangle& given = mesh.triangles[t];
    const point &a = mesh.at(given.corner[0]), &b = mesh.at(given.corner[1]), &c = mesh.at(given.corner[2]);
    const double area = cross(b - a, c - a) / 2;
    if (sources_.empty() && field_ == nullptr) return area > area_max_[given.region];
    return area > area_max(given.region, {(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3});
  }

  /// Whether the least angle is below the bound. `shortest` becomes the position of the shortest side's apex.
  [[nodiscard]] bool too_thin(const triangulation& mesh, index t, unsigned& shortest) const noexcept {
    const triangle& given = mesh.triangles[t];
    const point &a = mesh.at(given.corner[0]), &b = mesh.at(given.corner[1]), &c = mesh.at(given.corner[2]);
    const double of_a = squared_length(c - b), of_b = squared_length(a - c), of_c = squared_length(b - a);
    const double twice = cross(b - a, c - a);
    shortest = of_a <= of_b && of_a <= of_c ? 0 : of_b <= of_c ? 1 : 2;
    const double others = shortest == 0 ? of_b * of_c : shortest == 1 ? of_a * of_c : of_a * of_b;
    return twice * twice < sine_squared_ * others;  // the sine of the angle between the two longer sides
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(sine_squared_, degrees_, area_max_, area_least_, sources_, field_factor_, refines_);
  }

 private:
  /// The area of a triangle with three sides of that length.
  static double area_of(double length) noexcept { return std::sqrt(3.0) / 4 * length * length; }

  double sine_squared_ = 0, degrees_ = 0;
  std::vector<double> area_max_{};                               // by region; coastlines have thousands
  double area_least_ = std::numeric_limits<double>::infinity();  // of them
  std::vector<size_source> sources_{};
  const size_field* field_ = nullptr;
  double field_factor_ = 1;  // of areas
  bool refines_ = true;
};

}  // namespace mesh2d
