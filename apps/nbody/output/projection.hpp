// SPDX-License-Identifier: Apache-2.0
// The view that a picture shows: the column density of mass along z.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "numerics/body.hpp"

namespace nbody {

/// Masses as whole numbers, whose sums do not depend on the order: the mass of all bodies is this number.
inline constexpr double whole_mass = 0x1p40;

struct projection {
  vector3 centre{};
  double half_width = 1;       ///< of the square that is seen
  std::uint32_t pixels = 512;  ///< on each side

  /// The pixel of a place, rows from the top; pixels * pixels for a place outside.
  [[nodiscard]] std::size_t pixel_of(const vector3& place) const noexcept;
};

/// Three bytes a pixel, by the logarithm of the mass.
[[nodiscard]] std::vector<std::uint8_t> colours_of(const std::vector<std::uint64_t>& masses, std::uint64_t bodies);

/// Logarithmic bins of radii: 400 a factor of ten, from 1e-6 to 1e6. The first and the last bin have all radii beyond.
struct radial_scale {
  double lowest_decade = -6, bins_a_decade = 400;
};
inline constexpr std::size_t radial_bins = 4800;
inline constexpr radial_scale widest_scale{.lowest_decade = -300, .bins_a_decade = 8};
/// As fine as the usual scale, with the radius near its middle.
[[nodiscard]] radial_scale scale_around(double radius) noexcept;
[[nodiscard]] std::size_t radial_bin(double radius, const radial_scale& scale) noexcept;
/// The radius that holds a part of the mass. Nothing if it is beyond the scale.
[[nodiscard]] std::optional<double> radius_of_part(const std::vector<std::uint64_t>& masses, double part,
                                                   const radial_scale& scale) noexcept;

}  // namespace nbody
