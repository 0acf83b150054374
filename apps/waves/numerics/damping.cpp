// SPDX-License-Identifier: Apache-2.0
// Damping row by row. A plane is changed only when the planes two further on have been computed, which read it.
#include "damping.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace waves {
namespace {

constexpr double strength = 0.02;

/// A stretch of points along x.
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
  /// Whether all points of a row are in reach of a layer.
  [[nodiscard]] bool is_whole(int y, int z) const {
    return domain_.grid->y.is_near_layer(domain_.box.y + y) || domain_.grid->z.is_near_layer(domain_.box.z + z);
  }
  /// The points of a row that are in reach of a layer, two stretches of them.
  [[nodiscard]] std::pair<span_x, span_x> points(int y, int z) const {
    const axis& x = domain_.grid->x;
    if (is_whole(y, z)) return {{0, x.count()}, {0, 0}};
    const int left = x.layer_at_begin() > 0 ? std::min(x.layer_at_begin() + halo, x.count()) : 0;
    const int right = x.layer_at_end() > 0 ? std::max(x.count() - x.layer_at_end() - halo, left) : x.count();
    return {{0, left}, {right, x.count()}};
  }

  void compute_plane(int z) {
    for (int y = 0; y < domain_.box.ny; ++y) {
      const auto [left, right] = points(y, z);
      for (const span_x& part : {left, right}) {
        if (part.begin < part.end) compute(y, z, part);
      }
    }
  }

  void compute(int y, int z, span_x part) {
    const axis &along_y = domain_.grid->y, &along_z = domain_.grid->z;
    const int gy = domain_.box.y + y, gz = domain_.box.z + z;
    const triple out = room_.plane(y, z);
    for (int number = 0; number < 3; ++number) {
      double* to = out.begin + number * out.component;
      along_x(number, y, z, part, along_y.taper(gy) * along_z.taper(gz), to);
      across(number, y, z, part, along_y, gy, u_.steps().row, previous_.steps().row, domain_.material->base.steps().row,
             along_z.taper(gz), to);
      across(number, y, z, part, along_z, gz, u_.steps().plane, previous_.steps().plane,
             domain_.material->base.steps().plane, along_y.taper(gy), to);
    }
  }

  void along_x(int number, int y, int z, span_x part, double taper, double* to) const {
    const axis& x = domain_.grid->x;
    const double* u = u_.at(number, y, z);
    const double* before = previous_.at(number, y, z);
    const double* inverse = domain_.material->base.at(2, y, z);
    const auto change = [&](int at) { return u[at] - before[at]; };
    const auto stress = [&](int at) {
      const double profile = x.profile(at);
      if (profile == 0) return 0.0;
      const double density = 1 / inverse[std::clamp(at, 0, x.count() - 1)];
      return density * profile * (change(at + 1) - 2 * change(at) + change(at - 1));
    };
    for (int at = part.begin; at < part.end; ++at) {
      const double sum = stress(at + 1) - 2 * stress(at) + stress(at - 1);
      to[at] = strength * x.stretch(at) * taper * sum;
    }
  }

  /// Along y or z, where neighbours are `step` doubles away.
  void across(int number, int y, int z, span_x part, const axis& along, int place, std::ptrdiff_t step,
              std::ptrdiff_t before_step, std::ptrdiff_t material_step, double taper, double* to) const {
    const double profiles[3] = {along.profile(place - 1), along.profile(place), along.profile(place + 1)};
    if (profiles[0] == 0 && profiles[1] == 0 && profiles[2] == 0) return;
    const axis& x = domain_.grid->x;
    const double* u = u_.at(number, y, z);
    const double* before = previous_.at(number, y, z);
    const double* inverse = domain_.material->base.at(2, y, z);
    for (int at = part.begin; at < part.end; ++at) {
      double d[5], stress[3];
      for (int k = -2; k <= 2; ++k) d[k + 2] = u[at + k * step] - before[at + k * before_step];
      for (int k = 0; k < 3; ++k) {
        stress[k] = profiles[k] / inverse[at + (k - 1) * material_step] * (d[k] - 2 * d[k + 1] + d[k + 2]);
      }
      const double factor = strength * along.stretch(place) * taper * x.taper(at);
      to[at] += factor * (stress[0] - 2 * stress[1] + stress[2]);
    }
  }

  void apply_plane(int z) {
    for (int y = 0; y < domain_.box.ny; ++y) {
      const auto [left, right] = points(y, z);
      for (const span_x& part : {left, right}) {
        for (int number = 0; number < 3; ++number) {
          const triple from = room_.plane(y, z);
          const double* inverse = domain_.material->base.at(2, y, z);
          double* to = previous_.at(number, y, z);
          for (int at = part.begin; at < part.end; ++at) {
            to[at] += inverse[at] * from.begin[number * from.component + at];
          }
        }
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
