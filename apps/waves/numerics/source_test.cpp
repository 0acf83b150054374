// SPDX-License-Identifier: Apache-2.0
// Moments of source weights, time functions, and means of layers.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

#include "numerics/point_source.hpp"

namespace waves {
namespace {

double moment(const six_weights& weights, int power) {
  double sum = 0;
  for (int k = 0; k < 6; ++k) sum += weights[static_cast<std::size_t>(k)] * std::pow(k - 2, power);
  return sum;
}

TEST(source_weights, have_exact_moments) {
  for (const double alpha : {0.0, 0.1, 0.5, 0.77, 0.999}) {
    for (int power = 0; power <= 4; ++power) {
      EXPECT_NEAR(moment(delta_weights(alpha), power), power == 0 ? 1 : std::pow(alpha, power), 1e-12) << alpha;
      const double slope = power == 0 ? 0 : -power * std::pow(alpha, power - 1);
      EXPECT_NEAR(moment(delta_slope_weights(alpha), power), slope, 1e-11) << alpha << ", " << power;
    }
  }
}

TEST(source_weights, go_over_from_one_point_to_the_next_smoothly) {
  const six_weights previous = delta_weights(1 - 1e-9), rest = delta_weights(0);
  for (std::size_t k = 1; k < 6; ++k) EXPECT_NEAR(previous[k], rest[k - 1], 1e-7);
  const six_weights slope_before = delta_slope_weights(1 - 1e-9), slope_behind = delta_slope_weights(0);
  for (std::size_t k = 1; k < 6; ++k) EXPECT_NEAR(slope_before[k], slope_behind[k - 1], 1e-7);
}

TEST(time_functions, have_the_second_derivatives_that_they_say) {
  for (int kind = 0; kind < 5; ++kind) {
    const time_function time_function{static_cast<time_function::shape>(kind), 0.3, 0.7};
    for (const double t : {0.35, 0.5, 0.8, 0.95}) {
      constexpr double d = 1e-4;
      const double difference =
          (time_function.value(t + d) - 2 * time_function.value(t) + time_function.value(t - d)) / (d * d);
      EXPECT_NEAR(time_function.second_derivative(t), difference, 1e-4 * (1 + std::abs(difference)))
          << kind << " at " << t;
    }
  }
}

TEST(time_functions, have_the_peaks_that_they_say) {
  for (int kind = 0; kind < 5; ++kind) {
    const time_function time_function{static_cast<time_function::shape>(kind), 0.3, 0.7};
    double most = 0;
    for (double t = -2; t < 20; t += 0.01) most = std::max(most, std::abs(time_function.value(t)));
    EXPECT_NEAR(time_function.peak() / most, 1, 1e-3) << kind;
  }
}

TEST(layer_means, of_one_material_are_that_material) {
  const isotropic rock = isotropic::of_speeds(4000, 2000, 2600);
  const stiffness exact(rock);
  for (const interface_mean mean : {interface_mean::harmonic, interface_mean::thin_layer}) {
    const stiffness match = mean_of({{0.25, rock}, {0.75, rock}}, mean);
    for (double stiffness::*each : {&stiffness::c11, &stiffness::c12, &stiffness::c13, &stiffness::c33, &stiffness::c44,
                                    &stiffness::c66, &stiffness::rho}) {
      EXPECT_NEAR(match.*each / (exact.*each), 1, 1e-14);
    }
  }
}

TEST(layer_means, bear_shear_in_the_plane_by_the_stiffer_layer) {
  const isotropic soft = isotropic::of_speeds(4000, 2000, 2600), hard = isotropic::of_speeds(6000, 3464, 2700);
  const stiffness stiffness = mean_of({{0.5, soft}, {0.5, hard}}, interface_mean::thin_layer);
  EXPECT_DOUBLE_EQ(stiffness.c66, (soft.mu + hard.mu) / 2);
  EXPECT_DOUBLE_EQ(stiffness.c44, 2 / (1 / soft.mu + 1 / hard.mu));
  EXPECT_LT(stiffness.c44, stiffness.c66);
}

}  // namespace
}  // namespace waves
