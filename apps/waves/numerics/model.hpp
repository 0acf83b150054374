// SPDX-License-Identifier: Apache-2.0
// Which material is where: layers, blocks, a raster, and smooth or random variations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stiffness.hpp"

namespace waves {

using position = std::array<double, 3>;  ///< metres; z downwards

/// From `top` down to the next layer's top.
struct layer {
  double top = 0;
  isotropic material;
};
/// A box that replaces what layers say.
struct block {
  position low{}, high{};
  isotropic material;
};
/// Materials at the points of a grid; between them the nearest one counts, outside the nearest at the border.
struct raster {
  std::array<int, 3> count{};
  position low{};
  std::array<double, 3> spacing{};
  std::vector<isotropic> materials;  ///< x runs fastest
};

/// What the plane of an interface between layers has.
enum class interface_mean : std::uint8_t {
  harmonic,   ///< means of lambda and mu are harmonic, of rho arithmetic, as in SW4
  thin_layer  ///< means that waves see which are longer than the plane is thick; they depend on the direction
};

/// A variation of all materials, for tests.
enum class variation : std::uint8_t {
  none,
  random,  ///< lambda, mu and rho times numbers from 0.5 to 1.5, independent at each point
  waves    ///< the smooth materials of the manufactured solution, in place of all others
};

class model {
 public:
  std::vector<layer> layers;  ///< by depth, the first one from 0 on
  std::vector<block> blocks;  ///< later ones replace earlier ones
  raster points;
  interface_mean mean = interface_mean::thin_layer;
  variation kind = variation::none;
  std::uint64_t seed = 1;
  double h = 1;  ///< thickness of what a point stands for

  /// The material that a point stands for.
  [[nodiscard]] stiffness at(const position& position) const;
  /// Whether the plane at a depth has an interface, so that its stiffness may depend on the direction.
  [[nodiscard]] bool has_interface(double depth) const;

 private:
  [[nodiscard]] isotropic layer_at(double depth) const;
  [[nodiscard]] stiffness mean_around(double depth) const;
};

/// Thin layers that make up a part of the thickness each (Backus, J. Geophys. Res. 67 (1962) 4427).
struct thin_layer {
  double part = 1;
  isotropic material;
};
[[nodiscard]] stiffness mean_of(const std::vector<thin_layer>& layers, interface_mean mean);

}  // namespace waves
