// SPDX-License-Identifier: Apache-2.0
// Orders of accuracy, and the energy that steps keep.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "numerics/subdomain.hpp"
#include "output/report.hpp"
#include "setup/cases.hpp"

namespace waves {
namespace {

double error_of(const description& asked) {
  check(asked);
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  subdomain fields(rule, {0, 0, rule->grid.x.count(), rule->grid.y.count(), rule->grid.z.count()});
  scratch room;
  for (int step = 0; step < rule->steps; ++step) {
    fields.accelerate(room);
    fields.advance(room);
  }
  double error = 0, norm = 0;
  for (const auto& [of_error, of_solution] : fields.row_errors()) {
    error += of_error;
    norm += of_solution;
  }
  return std::sqrt(error / norm);
}

void expect_fourth_order(known_case known_case, double coarsest) {
  std::vector<double> errors;
  for (double h = coarsest; errors.size() < 3; h /= std::sqrt(2.0)) {
    description asked = describe(known_case, h, {});
    for (double& each : asked.size) each = std::round(each / h) * h;
    errors.push_back(error_of(asked));
  }
  // Each grid is finer by the root of 2, so that three of them take little time.
  EXPECT_GE(std::log2(errors[0] / errors[2]), 3.8) << errors[0] << ' ' << errors[1] << ' ' << errors[2];
}

TEST(time_step, is_of_fourth_order_for_plane_waves) { expect_fourth_order(known_case::plane_wave, 100); }
TEST(time_step, is_of_fourth_order_with_a_free_surface) { expect_fourth_order(known_case::rayleigh, 90); }
TEST(time_step, is_of_fourth_order_in_a_smooth_material) { expect_fourth_order(known_case::manufactured, 1.0 / 20); }

TEST(time_step, keeps_the_energy_in_a_random_material) {
  description asked;
  asked.h = 1;
  asked.time = 150;
  asked.size = {15, 16, 17};
  asked.layers = 0;
  asked.material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
  asked.material.kind = variation::random;
  asked.initial.random = true;
  check(asked);
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  subdomain fields(rule, {0, 0, 16, 17, 18});
  scratch room;
  double first = 0, drift = 0;
  for (int step = 0; step < rule->steps; ++step) {
    fields.measure_energy(step % 20 == 0);
    fields.accelerate(room);
    fields.advance(room);
    if (step % 20 != 0) continue;
    const double energy = std::accumulate(fields.row_energies().begin(), fields.row_energies().end(), 0.0);
    if (first == 0) first = energy;
    drift = std::max(drift, std::abs(energy / first - 1));
  }
  EXPECT_GT(first, 0);
  EXPECT_LT(drift, 1e-11);
}

}  // namespace
}  // namespace waves
