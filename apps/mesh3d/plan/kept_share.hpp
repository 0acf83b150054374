// SPDX-License-Identifier: Apache-2.0
// Which part of a cube is on the sides of a surface that are kept.
#pragma once

#include <map>

#include "options.hpp"
#include "plan/octree.hpp"
#include "surface/placed_surface.hpp"

namespace mesh3d {

/// Cubes of a 64th of the side that the surface may cross all have the share with which the volume inside is that
/// within the surface. Shares are remembered: sizes may be asked for many times. The surface must outlive this.
class kept_share {
 public:
  kept_share(const surface_in_cube& surface, sides keep);
  /// From 0 to 1.
  [[nodiscard]] double share(const cube& part);

 private:
  [[nodiscard]] double inner(const cube& part);
  /// Adds the volumes of small cubes that are wholly inside, and of those that may be crossed.
  void add_volumes(const cube& part, double& inside, double& crossed) const;
  [[nodiscard]] bool may_cross(const cube& part) const;
  [[nodiscard]] bool is_inside(const cube& part) const;

  const triangle_tree& tree_;
  sides keep_;
  double crossed_share_ = 0;
  std::map<cube, double> known_{};
};

}  // namespace mesh3d
