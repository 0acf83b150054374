// SPDX-License-Identifier: Apache-2.0
// Bounds of patches.
#include "cut.hpp"

#include <algorithm>
#include <cmath>

namespace waves {

cut::cut(const grid& grid, int y, int z)
    : nx_(grid.x.count()),
      ny_(grid.y.count()),
      nz_(grid.z.count()),
      y_(std::clamp(y, 1, std::max(1, ny_ / patch_side_min))),
      z_(std::clamp(z, 1, std::max(1, nz_ / patch_side_min))) {}

patch_box cut::box(int at_y, int at_z) const noexcept {
  const auto bound = [](long long part, int parts, int count) { return static_cast<int>(part * count / parts); };
  patch_box box{bound(at_y, y_, ny_), bound(at_z, z_, nz_), nx_, 0, 0};
  box.ny = bound(at_y + 1, y_, ny_) - box.y;
  box.nz = bound(at_z + 1, z_, nz_) - box.z;
  return box;
}

cut cut_into(const grid& grid, int patches) {
  cut best(grid, 1, 1);
  double least = 1e300;
  for (int y = 1; y <= patches; ++y) {
    const cut candidate(grid, y, std::max(1, patches / y));
    const patch_box box = candidate.box(0, 0);
    const double missing = std::abs(patches - candidate.patches());
    const double faces = 1.0 / box.ny + 1.0 / box.nz + missing;  // points that are exchanged, of all
    if (faces < least) {
      least = faces;
      best = candidate;
    }
  }
  return best;
}

}  // namespace waves
