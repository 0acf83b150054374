// SPDX-License-Identifier: Apache-2.0
// How long edges should be, by the place.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "geometry/point.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

/// Lengths are not shorter, so that points differ in coordinates of doubles; the growth of neighbours' lengths has a
/// bound, so that points on edges and faces suit each other.
inline constexpr double length_min = 1e-5, growth_max = 0.5;

/// A place around which the mesh is finer: edges should be `length` long there, and `growth` longer for each unit of
/// distance.
struct size_source {
  point position{};
  double length = 0;
  double growth = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(position.x, position.y, position.z, length, growth);
  }
};

/// Nothing here depends on the rank or the time: subdomains that share a face compute the same points on it, bit for
/// bit.
struct size_field {
  double everywhere = 0.1;
  std::vector<size_source> sources{};
  const triangle_tree* surface = nullptr;  // this rank's; it is not serialized
  double surface_factor = 1, surface_growth = 0;

  [[nodiscard]] double at(const point& p) const noexcept {
    double length = everywhere;
    for (const size_source& each : sources) {
      length = std::min(length, each.length + each.growth * std::sqrt(squared_length(p - each.position)));
    }
    return surface == nullptr ? length : surface->length_near(p, surface_factor, surface_growth, length);
  }
  /// Bounds of the lengths at places that are no further from `p` than `distance`.
  [[nodiscard]] std::pair<double, double> around(const point& p, double distance) const noexcept {
    double least = everywhere, most = everywhere;
    for (const size_source& each : sources) {
      const double away = std::sqrt(squared_length(p - each.position));
      least = std::min(least, each.length + each.growth * std::max(0.0, away - distance));
      most = std::min(most, each.length + each.growth * (away + distance));
    }
    if (surface == nullptr) return {least, most};
    const double local_value = at(p);  // grows by no more than surface_growth where the surface decides
    return {std::min(least, std::max(local_value - surface_growth * distance,
                                     surface->length_near(p, surface_factor, 0, least))),
            std::min(most, local_value + surface_growth * distance)};
  }
  /// The field with all lengths multiplied. Growth stays: it is a ratio of lengths.
  [[nodiscard]] size_field scaled(double factor) const {
    size_field result = *this;
    result.everywhere *= factor;
    for (size_source& each : result.sources) each.length *= factor;
    result.surface_factor *= factor;
    return result;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(everywhere, sources, surface_factor, surface_growth);
  }
};

}  // namespace mesh3d
