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
#include "numerics/patch_material.hpp"
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
  std::shared_ptr<problem> setup = std::make_shared<problem>();
  std::unique_ptr<subdomain> fields;
  patch_box box{0, 0, 11, 10, 13};

  explicit medium(variation kind = variation::random) {
    setup->grid.x = axis(box.nx, 0, 0);
    setup->grid.y = axis(box.ny, 0, 0);
    setup->grid.z = axis(box.nz, 0, 0);
    setup->material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
    setup->material.kind = kind;
    setup->grid.dt = 1;
    make_fields();
  }
  void make_fields() { fields = std::make_unique<subdomain>(setup, box); }
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
      const double rho = setup->material.at(setup->place_of(x, y, z)).rho;
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

void expect_symmetric_and_negative(medium& medium) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const auto u = random_numbers(medium.unknowns(), seed), v = random_numbers(medium.unknowns(), seed + 100);
    const auto lu = medium.weighted_force(u), lv = medium.weighted_force(v);
    EXPECT_NEAR(product(v, lu), product(u, lv), 1e-11 * std::sqrt(product(u, u) * product(lu, lu)));
    EXPECT_LT(product(u, lu), -1e-3 * product(u, u));
  }
}

TEST(wave_operator, is_symmetric_and_negative_for_random_materials) {
  medium medium;
  EXPECT_EQ(medium.fields->uniform_rows(), 0u);
  expect_symmetric_and_negative(medium);
}

TEST(wave_operator, is_symmetric_where_uniform_rows_lie_beside_others) {
  for (const interface_mean mean : {interface_mean::harmonic, interface_mean::thin_layer}) {
    medium medium(variation::none);
    medium.box = {0, 0, 11, 21, 29};
    medium.setup->grid.y = axis(21, 0, 0);
    medium.setup->grid.z = axis(29, 0, 0);
    medium.setup->material.mean = mean;
    medium.setup->material.layers.push_back({14, isotropic::of_speeds(4, 2.5, 2)});
    medium.setup->material.blocks.push_back({{3, 9, 20}, {7, 11, 24}, isotropic::of_speeds(3, 1, 1.5)});
    medium.make_fields();
    EXPECT_GT(medium.fields->uniform_rows(), 100u);
    EXPECT_LT(medium.fields->uniform_rows(), 500u);
    expect_symmetric_and_negative(medium);
  }
}

/// Materials that differ by less than matters, so that no row is uniform.
raster hardly_varied(const isotropic& surroundings, const patch_box& box) {
  raster points{{box.nx, box.ny, box.nz}, {0, 0, 0}, {1, 1, 1}, {}};
  for (int k = 0; k < box.nx * box.ny * box.nz; ++k) {
    isotropic material = surroundings;
    material.mu *= 1 + 1e-13 * (k % 2);
    points.materials.push_back(material);
  }
  return points;
}

TEST(wave_operator, is_the_same_for_uniform_rows_as_for_others) {
  for (const int layer : {0, 4}) {
    std::vector<std::vector<double>> results;
    for (const bool uniform : {true, false}) {
      medium medium(variation::none);
      medium.box = {0, 0, 17, 14, 19};
      medium.setup->grid.x = axis(17, layer, layer);
      medium.setup->grid.y = axis(14, layer, layer);
      medium.setup->grid.z = axis(19, 0, layer);
      if (!uniform)
        medium.setup->material.points = hardly_varied(medium.setup->material.layers[0].material, medium.box);
      medium.make_fields();
      EXPECT_EQ(medium.fields->uniform_rows(), uniform ? 14u * 13u : 0u);
      results.push_back(medium.weighted_force(random_numbers(medium.unknowns(), 7)));
    }
    for (std::size_t k = 0; k < results[0].size(); ++k) ASSERT_NEAR(results[0][k], results[1][k], 1e-10) << k;
  }
}

TEST(patch_material, has_the_same_uniform_rows_for_any_cut) {
  medium whole(variation::none);
  whole.box = {0, 0, 11, 24, 24};
  whole.setup->grid.y = axis(24, 0, 0);
  whole.setup->grid.z = axis(24, 0, 0);
  whole.setup->material.blocks.push_back({{3, 9, 9}, {7, 13, 14}, isotropic::of_speeds(3, 1, 1.5)});
  whole.make_fields();
  std::size_t uniform = 0;
  for (const int y : {0, 12}) {
    for (const int z : {0, 12}) uniform += subdomain(whole.setup, {y, z, 11, 12, 12}).uniform_rows();
  }
  EXPECT_EQ(uniform, whole.fields->uniform_rows());
}

TEST(patch_material, has_means_of_thin_layers_at_the_depth_of_the_interface_below_layers_that_absorb) {
  medium medium(variation::none);
  constexpr int layer = 16, depth = 8;
  medium.box = {0, 0, 2 * layer + 16, 2 * layer + 16, 2 * layer + 16};
  for (axis* each : {&medium.setup->grid.x, &medium.setup->grid.y, &medium.setup->grid.z})
    *each = axis(medium.box.nx, layer, layer);
  medium.setup->grid.top = top_side::as_other_sides;
  medium.setup->grid.origin = {-layer, -layer, -layer};
  const isotropic soft = isotropic::of_speeds(2, 1, 2), hard = isotropic::of_speeds(6, 3, 2.6);
  medium.setup->material.layers = {{0, soft}, {depth, hard}};
  const patch_material material(*medium.setup, medium.box);
  for (int z = 0; z < medium.box.nz; ++z) EXPECT_EQ(material.at(0, z).layered, z == layer + depth) << z;
  const material_view plane = material.at(layer, layer + depth);
  EXPECT_DOUBLE_EQ(plane.begin[6 * plane.component + layer], (soft.mu + hard.mu) / 2);  // c66
}

TEST(patch_material, keeps_equal_rows_once) {
  medium medium(variation::none);
  medium.box = {0, 0, 64, 40, 40};
  medium.setup->grid.x = axis(64, 0, 0);
  medium.setup->grid.y = axis(40, 0, 0);
  medium.setup->grid.z = axis(40, 0, 0);
  medium.setup->material.layers.push_back({20, isotropic::of_speeds(4, 2.5, 2)});
  const std::size_t layered = patch_material(*medium.setup, medium.box).bytes();
  medium.setup->material.kind = variation::random;
  const std::size_t random = patch_material(*medium.setup, medium.box).bytes();
  EXPECT_LT(layered, 3u * 64u * 40u * sizeof(double));  // two layers and their interface, and a word for each row
  EXPECT_GT(random, 3u * 64u * 40u * 40u * sizeof(double));
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
    medium medium;
    medium.setup->kernels = kernels;
    medium.make_fields();
    results.push_back(medium.weighted_force(random_numbers(medium.unknowns(), 7)));
  }
  for (const auto& each : results) EXPECT_EQ(each, results.front());
}

}  // namespace
}  // namespace waves
