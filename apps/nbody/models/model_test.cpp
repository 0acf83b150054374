// SPDX-License-Identifier: Apache-2.0
// Spheres in equilibrium begin in it.
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "models/model.hpp"

namespace nbody {
namespace {

/// Twice the kinetic energy over the potential one, without its sign.
double virial_ratio(const std::vector<body>& bodies) {
  double kinetic = 0, potential = 0;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    kinetic += 0.5 * bodies[k].mass * dot(bodies[k].velocity, bodies[k].velocity);
    for (std::size_t other = 0; other < k; ++other) {
      potential += bodies[k].mass * bodies[other].mass / length(bodies[k].place - bodies[other].place);
    }
  }
  return 2 * kinetic / potential;
}

TEST(Models, in_equilibrium_have_the_kinetic_energy_that_it_asks_for) {
  for (const model_kind kind : {model_kind::plummer, model_kind::hernquist}) {
    const auto bodies = bodies_of_model({.kind = kind, .bodies = 8000, .seed = 3}, 0, 8000);
    EXPECT_NEAR(virial_ratio(bodies), 1, 0.02) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace nbody
