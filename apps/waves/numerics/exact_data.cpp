// SPDX-License-Identifier: Apache-2.0
// Keeps an exact solution by its parts, so that sines are computed once.
#include "exact_data.hpp"

#include <cmath>
#include <cstddef>

namespace waves {
namespace {

void put(rows& rows, const vector3& value, int x, int y, int z, double factor) {
  for (int number = 0; number < 3; ++number) {
    rows.at(number, y, z)[x] = factor * value[static_cast<std::size_t>(number)];
  }
}

}  // namespace

exact_data::exact_data(const problem& problem, const patch_box& box) : problem_(problem), box_(box) {
  const bool forced = problem.exact->is_forced();
  patch_box top = box;
  top.nz = 1;
  for (std::size_t part = 0; part < 2; ++part) {
    displacement_[part] = rows(box, 3);
    if (forced) force_[part] = rows(box, 3);
    if (forced && box.z == 0) tractions_[part] = rows(top, 3);
  }
  if (tractions_[0]) traction_ = rows(top, 3);
  for (int z = -halo; z < box.nz + halo; ++z) {
    for (int y = -halo; y < box.ny + halo; ++y) {
      for (int x = -halo; x < box.nx + halo; ++x) {
        const harmonic_values values = problem.exact->at(problem.place_of(x, box.y + y, box.z + z));
        for (std::size_t part = 0; part < 2; ++part) {
          put(displacement_[part], values.displacement[part], x, y, z, 1);
          if (forced) put(force_[part], values.force[part], x, y, z, 1);
          if (traction_ && z == 0) put(tractions_[part], values.traction[part], x, y, z, problem.grid.h);
        }
      }
    }
  }
}

std::array<double, 2> exact_data::factors(double t, exchanged exchanged) const {
  const double omega = problem_.exact->frequency();
  const double scale = exchanged == exchanged::acceleration ? -omega * omega : 1;
  return {scale * std::cos(omega * t), scale * std::sin(omega * t)};
}

bool exact_data::is_outside(int y, int z) const noexcept {
  const int gy = box_.y + y, gz = box_.z + z;
  return gy < 0 || gy >= problem_.grid.y.count() || gz < 0 || gz >= problem_.grid.z.count();
}

void exact_data::set_points(rows& field, std::array<double, 2> f, int y, int z, int begin, int end) const {
  for (int number = 0; number < 3; ++number) {
    const double* cosines = displacement_[0].at(number, y, z);
    const double* sines = displacement_[1].at(number, y, z);
    double* target = field.at(number, y, z);
    for (int x = begin; x < end; ++x) target[x] = f[0] * cosines[x] + f[1] * sines[x];
  }
}

void exact_data::set_all(rows& field, double t) const {
  for (int z = -halo; z < box_.nz + halo; ++z) {
    for (int y = -halo; y < box_.ny + halo; ++y) {
      set_points(field, factors(t, exchanged::displacement), y, z, -halo, box_.nx + halo);
    }
  }
}

void exact_data::set_outside(rows& field, double t, exchanged exchanged) const {
  const auto f = factors(t, exchanged);
  for (int z = -halo; z < box_.nz + halo; ++z) {
    for (int y = -halo; y < box_.ny + halo; ++y) {
      if (is_outside(y, z)) {
        set_points(field, f, y, z, -halo, box_.nx + halo);
      } else {
        set_points(field, f, y, z, -halo, 0);
        set_points(field, f, y, z, box_.nx, box_.nx + halo);
      }
    }
  }
}

void exact_data::add_force(rows& field, const patch_material& material, double t, double factor,
                           exchanged exchanged) const {
  if (!force_[0]) return;
  const auto f = factors(t, exchanged);
  for (int z = 0; z < box_.nz; ++z) {
    for (int y = 0; y < box_.ny; ++y) {
      const double* inverse = material.density_inverse(y, z);
      for (int number = 0; number < 3; ++number) {
        const double* cosines = force_[0].at(number, y, z);
        const double* sines = force_[1].at(number, y, z);
        double* target = field.at(number, y, z);
        for (int x = 0; x < box_.nx; ++x) target[x] += factor * inverse[x] * (f[0] * cosines[x] + f[1] * sines[x]);
      }
    }
  }
}

const rows* exact_data::traction(double t, exchanged exchanged) {
  if (!traction_) return nullptr;
  const auto f = factors(t, exchanged);
  for (int y = 0; y < box_.ny; ++y) {
    for (int number = 0; number < 3; ++number) {
      const double* cosines = tractions_[0].at(number, y, 0);
      const double* sines = tractions_[1].at(number, y, 0);
      double* target = traction_.at(number, y, 0);
      for (int x = 0; x < box_.nx; ++x) target[x] = f[0] * cosines[x] + f[1] * sines[x];
    }
  }
  return &traction_;
}

std::vector<std::array<double, 2>> exact_data::row_errors(const rows& u, double t) const {
  const auto f = factors(t, exchanged::displacement);
  std::vector<std::array<double, 2>> sums;
  for (int z = 0; z < box_.nz; ++z) {
    for (int y = 0; y < box_.ny; ++y) {
      std::array<double, 2> sum{};
      for (int number = 0; number < 3; ++number) {
        const double* cosines = displacement_[0].at(number, y, z);
        const double* sines = displacement_[1].at(number, y, z);
        const double* computed = u.at(number, y, z);
        for (int x = 0; x < box_.nx; ++x) {
          const double exact = f[0] * cosines[x] + f[1] * sines[x];
          sum[0] += (computed[x] - exact) * (computed[x] - exact);
          sum[1] += exact * exact;
        }
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

}  // namespace waves
