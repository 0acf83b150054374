// SPDX-License-Identifier: Apache-2.0
// Damping row by row. A plane is changed only when the planes two further on have been computed, which read it.
#include "damping.hpp"

#include <array>
#include <utility>

namespace waves {
namespace {

constexpr double strength = 0.02;

/// A stretch of points along x, in whole vectors.
struct span_x {
  int begin = 0, end = 0;
};

class damper {
 public:
  damper(const sweep_domain& domain, const rows& u, rows& previous, scratch& room)
      : domain_(domain), u_(u), previous_(previous), room_(room) {}

  void run() {
    const int nz = domain_.box.nz;
    for (int z = 0; z < nz + halo; ++z) {
      if (z < nz) compute_plane(z);
      if (z >= halo) apply_plane(z - halo);
    }
  }

 private:
  /// The points of a row that are in reach of a layer: all, or those at both ends.
  [[nodiscard]] std::array<span_x, 2> points(int y, int z) const {
    const int end = computed_length(domain_.box.nx);
    const bool is_whole =
        domain_.grid->y.is_near_layer(domain_.box.y + y) || domain_.grid->z.is_near_layer(domain_.box.z + z);
    if (is_whole) return {span_x{0, end}, span_x{end, end}};
    return {span_x{0, domain_.factors->plain_begin()}, span_x{domain_.factors->plain_end(), end}};
  }

  void compute_plane(int z) {
    for (int y = 0; y < domain_.box.ny; ++y) {
      for (const span_x& part : points(y, z)) {
        if (part.begin < part.end) compute(y, z, part);
      }
    }
  }

  [[nodiscard]] damping_task task(int y, int z, span_x part) const {
    const rows& base = domain_.material->base;
    damping_task row;
    row.begin = part.begin;
    row.end = part.end;
    row.u = {u_.at(0, y, z), u_.steps()};
    row.previous = {std::as_const(previous_).at(0, y, z), previous_.steps()};
    row.density_inverse = {base.at(2, y, z), base.steps()};
    return row;
  }

  void compute(int y, int z, span_x part) {
    const axis &along_y = domain_.grid->y, &along_z = domain_.grid->z;
    const int gy = domain_.box.y + y, gz = domain_.box.z + z;
    const triple out = room_.plane(y, z);
    damping_task row = task(y, z, part);
    row.profile_x = domain_.factors->profile();
    row.line = domain_.factors->stretch();
    row.factor = strength * along_y.taper(gy) * along_z.taper(gz);
    domain_.kernels->damp_x(row, out);
    row.line = domain_.factors->taper();
    row.factor = strength * along_y.stretch(gy) * along_z.taper(gz);
    if (set_profiles(row, along_y, gy)) domain_.kernels->damp_y(row, out);
    row.factor = strength * along_z.stretch(gz) * along_y.taper(gy);
    if (set_profiles(row, along_z, gz)) domain_.kernels->damp_z(row, out);
  }

  /// Returns whether there is any damping.
  static bool set_profiles(damping_task& row, const axis& along, int place) {
    for (int k = 0; k < 3; ++k) row.profiles[k] = along.profile(place + k - 1);
    return row.profiles[0] != 0 || row.profiles[1] != 0 || row.profiles[2] != 0;
  }

  void apply_plane(int z) {
    for (int y = 0; y < domain_.box.ny; ++y) {
      for (const span_x& part : points(y, z)) {
        domain_.kernels->apply_damping(task(y, z, part), room_.plane(y, z), previous_.at(0, y, z));
      }
    }
  }

  const sweep_domain& domain_;
  const rows& u_;
  rows& previous_;
  scratch& room_;
};

}  // namespace

void damp(const sweep_domain& domain, const rows& u, rows& previous, scratch& room) {
  if (!domain.grid->has_layers()) return;
  room.fit(domain.box);
  damper(domain, u, previous, room).run();
}

}  // namespace waves
