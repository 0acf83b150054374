// SPDX-License-Identifier: Apache-2.0
// Formulas of map projections (Snyder, Map Projections: A Working Manual, 1987), for the sphere.
#include "coast/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <nacre/error.hpp>

namespace mesh2d {
namespace {

constexpr double radius_km = 6371.007, radian = std::numbers::pi / 180;

[[noreturn]] void refuse_projection(const std::string& problem, const std::string& reason) {
  throw nacre::setup_error({problem, reason, "choose a smaller region, or --projection equirectangular"});
}

}  // namespace

projection::projection(projection_kind kind, const geographic_region& shown)
    : kind_(kind),
      longitude_((shown.west + shown.east) / 2 * radian),
      latitude_((shown.south + shown.north) / 2 * radian) {
  const double width = shown.east - shown.west;
  if (kind_ == projection_kind::automatic) {
    kind_ = width > 120 ? projection_kind::equirectangular : projection_kind::stereographic;
  }
  constexpr double mercator_max = 85, cylinder_max = 85;
  if (kind_ == projection_kind::mercator && std::max(-shown.south, shown.north) > mercator_max) {
    refuse_projection("Mercator's projection shows no poles",
                      fmt::format("latitudes may be from -{0} to {0}", mercator_max));
  }
  if (!is_azimuthal() && std::abs(latitude_) > cylinder_max * radian) {
    refuse_projection("the middle of the region is too near to a pole",
                      "cylinders touch the earth along the middle parallel");
  }
  if (!is_azimuthal()) return;
  // The place that is farthest from the middle lies on the border of the region.
  double least = 1;
  for (int k = 0; k <= 64; ++k) {
    const double latitude = (shown.south + (shown.north - shown.south) * k / 64) * radian;
    const double longitude = width / 2 * radian;
    least = std::min(least, std::sin(latitude_) * std::sin(latitude) +
                                std::cos(latitude_) * std::cos(latitude) * std::cos(longitude));
  }
  if (width > 355 || least < std::cos(120 * radian)) {
    refuse_projection("the region is too large for an azimuthal projection",
                      "it may reach 120 degrees from its middle");
  }
}

point projection::operator()(double longitude, double latitude) const noexcept {
  const double lambda = longitude * radian - longitude_, phi = latitude * radian;
  const double at_middle = std::cos(latitude_);
  switch (kind_) {
    case projection_kind::mercator:
      return {radius_km * at_middle * lambda, radius_km * at_middle * std::asinh(std::tan(phi))};
    case projection_kind::cea:
      return {radius_km * at_middle * lambda, radius_km * std::sin(phi) / at_middle};
    case projection_kind::stereographic:
    case projection_kind::laea: {
      const double cosine = std::sin(latitude_) * std::sin(phi) + at_middle * std::cos(phi) * std::cos(lambda);
      const double scale =
          radius_km * (kind_ == projection_kind::laea ? std::sqrt(2 / (1 + cosine)) : 2 / (1 + cosine));
      return {scale * std::cos(phi) * std::sin(lambda),
              scale * (at_middle * std::sin(phi) - std::sin(latitude_) * std::cos(phi) * std::cos(lambda))};
    }
    default:
      return {radius_km * at_middle * lambda, radius_km * phi};
  }
}

}  // namespace mesh2d
