// SPDX-License-Identifier: Apache-2.0
// What is decided before the first point: lengths and subdomains.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernel/refiner.hpp"
#include "options.hpp"
#include "plan/octree.hpp"
#include "surface/placed_surface.hpp"

namespace mesh3d {

struct plan {
  quality_rule rule{};
  std::vector<leaf_plan> leaves{};
  std::vector<double> expected{};                    // tetrahedra, by leaf
  std::shared_ptr<const surface_in_cube> surface{};  // null: the whole cube is meshed
};

/// Tetrahedra that a part of the domain will have, about.
double expected_tetrahedra(const cube& part, const size_field& size);

/// Throws nacre::setup_error for what no subdomain could hold, and for a mesh that takes more than `memory_bytes`.
plan make_plan(const options& asked, double memory_bytes = std::numeric_limits<double>::infinity());

}  // namespace mesh3d
