// SPDX-License-Identifier: Apache-2.0
// Damping row by row. A plane is changed only when the planes two further on have been computed, which read it.
#include "damping.hpp"

#include <algorithm>
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
    damping_task row;
    row.begin = part.begin;
    row.end = part.end;
    row.u = {u_.at(0, y, z), u_.steps()};
    row.previous = {std::as_const(previous_).at(0, y, z), previous_.steps()};
    row.density_inverse[1] = domain_.material->density_inverse(y, z);
    return row;
  }

  void compute(int y, int z, span_x part) {
    const axis &along_y = domain_.grid->y, &along_z = domain_.grid->z;
    const int gy = domain_.box.y + y, gz = domain_.box.z + z;
    const triple out = room_.plane(y, z);
    const patch_material& material = *domain_.material;
    damping_task row = task(y, z, part);
    row.profile_x = domain_.factors->profile();
    row.line = domain_.factors->stretch();
    row.factor = strength * along_y.taper(gy) * along_z.taper(gz);
    damp_along_x(row, out);
    row.line = domain_.factors->taper();
    row.factor = strength * along_y.stretch(gy) * along_z.taper(gz);
    for (const int k : {0, 2}) row.density_inverse[k] = material.density_inverse(y + k - 1, z);
    if (set_profiles(row, along_y, gy)) domain_.kernels->damp_y(row, out);
    row.factor = strength * along_z.stretch(gz) * along_y.taper(gy);
    for (const int k : {0, 2}) row.density_inverse[k] = material.density_inverse(y, z + k - 1);
    if (set_profiles(row, along_z, gz)) domain_.kernels->damp_z(row, out);
  }

  /// Sets what is in reach of no layer along x to zero.
  void damp_along_x(damping_task row, triple out) {
    const int begin = row.begin, end = row.end;
    const int plain_begin = std::clamp(domain_.factors->plain_begin(), begin, end);
    const int plain_end = std::clamp(domain_.factors->plain_end(), plain_begin, end);
    for (const span_x& part : {span_x{begin, plain_begin}, span_x{plain_end, end}}) {
      row.begin = part.begin, row.end = part.end;
      domain_.kernels->damp_x(row, out);
    }
    for (int number = 0; number < 3; ++number) {
      double* plain = out.begin + number * out.component;
      std::fill(plain + plain_begin, plain + plain_end, 0.0);
    }
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
