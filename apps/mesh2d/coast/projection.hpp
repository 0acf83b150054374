// SPDX-License-Identifier: Apache-2.0
// From the sphere to the plane.
#pragma once

#include <cstdint>

#include "geometry/point.hpp"

namespace mesh2d {

/// laea is Lambert's azimuthal equal-area projection, cea his cylindrical equal-area one.
enum class projection_kind : std::uint8_t { automatic, mercator, stereographic, laea, cea, equirectangular };

/// A part of the earth, in degrees. `east` may be above 180.
struct geographic_region {
  double west = 0, east = 0, south = 0, north = 0;
};

/// Kilometres on a sphere of 6371.007 km, from the middle of the region, where scales are true; those of mercator and
/// cea along its middle parallel.
class projection {
 public:
  /// Throws nacre::setup_error for a region that the projection cannot show.
  projection(projection_kind kind, const geographic_region& shown);
  [[nodiscard]] projection_kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_azimuthal() const noexcept {
    return kind_ == projection_kind::stereographic || kind_ == projection_kind::laea;
  }
  [[nodiscard]] point operator()(double longitude, double latitude) const noexcept;

 private:
  projection_kind kind_;
  double longitude_ = 0, latitude_ = 0;  // of the middle, in radians
};

}  // namespace mesh2d
