// SPDX-License-Identifier: Apache-2.0
// Properties of the operator in space.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "numerics/boundary_stencils.hpp"
#include "numerics/operator_sweep.hpp"
#include "numerics/subdomain.hpp"

namespace waves {
namespace {

/// d/dz(m d/dz u) at the first rows of a column, times h^2, and the derivative on the surface times h.
double second_at(int row, const std::vector<double>& m, const std::vector<double>& u, double ghost) {
  double sum = row == 0 ? ghost_weight * m[0] * ghost : 0;
  for (std::size_t point = 0; point < edge_points; ++point) {
    for (std::size_t place = 0; place < edge_points; ++place) {
      sum += second_edge[static_cast<std::size_t>(row)][point][place] * m[place] * u[point];
    }
  }
  return sum;
}

TEST(boundary_stencils, are_exact_for_cubics) {
  for (int power = 0; power <= 3; ++power) {
    std::vector<double> u(edge_points), m(edge_points, 1.0);
    for (int z = 0; z < edge_points; ++z) u[static_cast<std::size_t>(z)] = std::pow(z, power);
    const double ghost = std::pow(-1, power);
    for (int row = 0; row < second_edge_rows; ++row) {
      const double exact = power < 2 ? 0 : power * (power - 1) * std::pow(row, power - 2);
      // Rows next to the surface are of second order, so that cubics are the last exact powers.
      EXPECT_NEAR(second_at(row, m, u, ghost), exact, 1e-11) << power << " in row " << row;
    }
    double slope = surface_derivative[0] * ghost;
    for (std::size_t k = 0; k < 4; ++k) slope += surface_derivative[k + 1] * u[k];
    EXPECT_NEAR(slope, power == 1 ? 1 : 0, 1e-13);
    for (std::size_t row = 0; power < 3 && row < first_edge_rows; ++row) {
      double first = 0;
      for (std::size_t k = 0; k < first_edge_points; ++k) first += first_edge[row][k] * u[k];
      EXPECT_NEAR(first, power == 0 ? 0 : power * std::pow(row, power - 1), 1e-13) << power << " in row " << row;
    }
  }
}

/// A grid, its patch, and the operator with a free surface applied to any field.
struct medium {
  std::shared_ptr<problem> of = std::make_shared<problem>();
  std::unique_ptr<subdomain> fields;
  patch_box box{0, 0, 11, 10, 13};

  medium() {
    of->grid.x = axis(box.nx, 0, 0);
    of->grid.y = axis(box.ny, 0, 0);
    of->grid.z = axis(box.nz, 0, 0);
    of->material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
    of->material.kind = variation::random;
    of->grid.dt = 1;
    fields = std::make_unique<subdomain>(of, box);
  }
  [[nodiscard]] std::size_t unknowns() const { return static_cast<std::size_t>(3 * box.nx * box.ny * box.nz); }

  template <class Act>
  void for_each(Act&& act) const {
    std::size_t number = 0;
    for (int z = 0; z < box.nz; ++z) {
      for (int y = 0; y < box.ny; ++y) {
        for (int component = 0; component < 3; ++component) {
          for (int x = 0; x < box.nx; ++x) act(number++, component, x, y, z);
        }
      }
    }
  }
  /// H L u: the force of each point times its weight in the norm.
  [[nodiscard]] std::vector<double> weighted_force(const std::vector<double>& u) {
    scratch room;
    for_each([&](std::size_t k, int c, int x, int y, int z) { fields->displacement().at(c, y, z)[x] = u[k]; });
    fields->accelerate(room);
    std::vector<double> result(unknowns());
    for_each([&](std::size_t k, int c, int x, int y, int z) {
      const double rho = of->material.at(of->place_of(x, y, z)).rho;
      result[k] = norm_weight(z) * rho * fields->acceleration().at(c, y, z)[x];
    });
    return result;
  }
};

std::vector<double> random_numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<double> result(count);
  for (double& each : result) each = numbers(engine);
  return result;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(wave_operator, is_symmetric_and_negative_for_random_materials) {
  medium with;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const auto u = random_numbers(with.unknowns(), seed), v = random_numbers(with.unknowns(), seed + 100);
    const auto lu = with.weighted_force(u), lv = with.weighted_force(v);
    EXPECT_NEAR(product(v, lu), product(u, lv), 1e-11 * std::sqrt(product(u, u) * product(lu, lu)));
    EXPECT_LT(product(u, lu), -1e-3 * product(u, u));
  }
}

/// G and the boundary term alone, by a column: H G + e1 m1 S has no weight for the ghost point.
TEST(boundary_stencils, leave_no_ghost_column) {
  EXPECT_NEAR(norm_weight(0) * ghost_weight + surface_derivative[0], 0, 1e-15);
}

TEST(wave_operator, has_the_same_bits_for_all_instruction_sets) {
  std::vector<std::vector<double>> results;
  for (const char* name : {"portable", "avx2", "avx512"}) {
    const row_kernels* kernels = kernels_named(name);
    if (kernels == nullptr) continue;
    medium with;
    with.of->kernels = kernels;
    with.fields = std::make_unique<subdomain>(with.of, with.box);
    results.push_back(with.weighted_force(random_numbers(with.unknowns(), 7)));
  }
  for (const auto& each : results) EXPECT_EQ(each, results.front());
}

}  // namespace
}  // namespace waves
