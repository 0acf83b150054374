// SPDX-License-Identifier: Apache-2.0
// How far triangles are from a surface, everywhere in them.
#pragma once

#include <array>

#include "geometry/point.hpp"
#include "plan/size_field.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

/// The greatest distance of triangles from a surface, by the length that edges should have.
struct deviation {
  double by_length = 0;  // as a part of the length asked for there
  double distance = 0;   // in the unit cube
  point place{};         // a place that is so far from the surface
  double area = 0;       // of what has been measured

  void merge(const deviation& other) noexcept;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(by_length, distance, place.x, place.y, place.z, area);
  }
};

/// Those points that are not less than `low` and less than `high`.
struct half_open_box {
  point low{}, high{};
};

/// Measures triangles by pieces (Guthe, Borodin and Klein 2005): all of a piece are no further from the surface than
/// the distance of its middle and the piece's radius together, so pieces are halved until that sum is within the bound,
/// or the distance above it. So no place is beyond the bound unless the greatest distance that is found is; that is
/// known to a fifth of a length, and to a fiftieth near the bound.
class deviation_meter {
 public:
  /// `bound` is a part of the length asked for. `surface` and `size` outlive the meter.
  deviation_meter(const triangle_tree& surface, const size_field& size, double bound)
      : surface_(surface), size_(size), bound_(bound) {}

  void measure(const std::array<point, 3>& triangle, deviation& deviation) const { cut(triangle, nullptr, deviation); }
  /// Measures the pieces, of half a length, whose middles are in the box. The boxes of a partition measure all of a
  /// triangle, each piece once.
  void measure_within(const half_open_box& box, const std::array<point, 3>& triangle, deviation& deviation) const {
    cut(triangle, &box, deviation);
  }

 private:
  using piece = std::array<point, 3>;
  void cut(const piece& part, const half_open_box* box, deviation& deviation) const;
  void look(const piece& part, double length, double limit, deviation& deviation) const;
  [[nodiscard]] double distance(const point& p, double limit) const;

  const triangle_tree& surface_;
  const size_field& size_;
  double bound_;
};

}  // namespace mesh3d
