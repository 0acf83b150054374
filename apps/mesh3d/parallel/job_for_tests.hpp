// SPDX-License-Identifier: Apache-2.0
// Whole jobs for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "parallel/mesher.hpp"

namespace mesh3d {

using settings = std::map<std::string, std::string>;

struct outcome {
  result done{};
  whole_mesh mesh{};
};

/// `spoil` may change the plan before the mesh is made.
inline outcome run_job(const settings& settings, const options& asked, void (*spoil)(plan&) = nullptr) {
  nacre::config configuration;
  for (const auto& [name, value] : settings) configuration.set(name, value);
  outcome match;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    plan planned;
    if (rt.rank().value() == 0) {
      planned = make_plan(asked);
      if (spoil != nullptr) spoil(planned);
    }
    whole_mesh mesh;
    const result result = make_mesh(rt, asked, std::move(planned), &mesh);
    if (rt.rank().value() != 0) return;
    match.done = result;
    match.mesh = std::move(mesh);
  });
  EXPECT_EQ(failed, 0);
  return match;
}

}  // namespace mesh3d
