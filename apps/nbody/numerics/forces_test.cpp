// SPDX-License-Identifier: Apache-2.0
// Forces by the tree beside direct sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/model.hpp"
#include "numerics/direct.hpp"
#include "numerics/forest.hpp"
#include "numerics/indices.hpp"

namespace nbody {
namespace {

struct comparison {
  force_error error;
  double potential = 0;  ///< largest relative error
};

/// The forces of some bodies beside the direct sums of all.
comparison compare(model_kind kind, std::uint32_t count, const accuracy& wanted, const softening& soft,
                   const kernel_set& kernels = best_kernels()) {
  std::vector<body> bodies = bodies_of_model({.kind = kind, .bodies = count, .seed = 3}, 0, count);
  const forest_result forest_result = forces_of(bodies, wanted, soft, kernels, true);
  std::vector<vector3> accelerations, exact;
  comparison result;
  for (std::size_t k = 0; k < count; k += 1 + count / 400) {
    direct_force sum;
    add_direct(bodies, bodies[k].place, bodies[k].number, soft, sum);
    accelerations.push_back(forest_result.accelerations[k]), exact.push_back(sum.acceleration);
    result.potential = std::max(result.potential, std::abs(forest_result.potentials[k] / sum.potential - 1));
  }
  result.error = error_of(accelerations, exact);
  return result;
}

TEST(Forces, have_the_error_that_is_asked_for) {
  for (const double error : {1e-3, 1e-4, 1e-5, 1e-6}) {
    const comparison comparison = compare(model_kind::plummer, 20000, accuracy_for(error), {});
    EXPECT_LT(comparison.error.root_mean_square, error) << error;
    EXPECT_LT(comparison.error.percentile_99, 5 * error) << error;
    EXPECT_LT(comparison.potential, 2 * error) << error;
  }
}

TEST(Forces, of_every_model_have_that_error) {
  for (const model_kind kind : {model_kind::collision, model_kind::hernquist, model_kind::collapse, model_kind::cube}) {
    const comparison comparison = compare(kind, 10000, accuracy_for(1e-3), {});
    EXPECT_LT(comparison.error.root_mean_square, 2e-3) << static_cast<int>(kind);
    EXPECT_LT(comparison.error.median, 1e-3) << static_cast<int>(kind);
  }
}

TEST(Forces, are_softened_near_and_far) {
  for (const softening_shape shape : {softening_shape::plummer, softening_shape::spline}) {
    const comparison comparison =
        compare(model_kind::plummer, 5000, accuracy_for(1e-5), {.length = 0.1, .shape = shape});
    EXPECT_LT(comparison.error.root_mean_square, 1e-5) << static_cast<int>(shape);
    EXPECT_LT(comparison.potential, 2e-5) << static_cast<int>(shape);
  }
}

TEST(Forces, are_right_with_the_code_that_every_processor_runs) {
  const comparison comparison = compare(model_kind::plummer, 3000, accuracy_for(1e-4), {}, portable_kernels());
  EXPECT_LT(comparison.error.root_mean_square, 1e-4);
}

TEST(Forces, hold_for_lengths_and_masses_of_any_size) {
  std::vector<body> bodies = bodies_of_model({.kind = model_kind::hernquist, .bodies = 4000, .seed = 1}, 0, 4000);
  std::vector<body> large = bodies;
  for (body& each : large) each.place = 1e20 * each.place, each.mass *= 1e40;
  const std::vector<vector3> small_forces =
      forces_of(bodies, accuracy_for(1e-6), {}, best_kernels(), false).accelerations;
  const std::vector<vector3> large_forces =
      forces_of(large, accuracy_for(1e-6), {}, best_kernels(), false).accelerations;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    EXPECT_LT(length(large_forces[k] - small_forces[k]), 1e-4 * length(small_forces[k])) << k;
  }
}

TEST(Forces, of_a_few_bodies_are_right) {
  for (const std::uint32_t count : {1u, 2u, 3u, 17u}) {
    std::vector<body> bodies = bodies_of_model({.kind = model_kind::cube, .bodies = count, .seed = 1}, 0, count);
    const forest_result result = forces_of(bodies, accuracy_for(1e-5), {}, best_kernels(), false);
    for (std::size_t k = 0; k < count; ++k) {
      direct_force sum;
      add_direct(bodies, bodies[k].place, bodies[k].number, {}, sum);
      EXPECT_LE(length(result.accelerations[k] - sum.acceleration), 3e-6 * length(sum.acceleration)) << count;
    }
  }
}

TEST(Indices, are_numbered_by_degree) {
  for (int place = 0; place < terms_up_to(6); ++place) {
    const multi_index n = index_at(place);
    EXPECT_EQ(position_of(n), place);
    EXPECT_GE(place, terms_up_to(n.degree() - 1));
    EXPECT_LT(place, terms_up_to(n.degree()));
  }
}

}  // namespace
}  // namespace nbody
