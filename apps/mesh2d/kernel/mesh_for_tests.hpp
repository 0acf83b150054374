// SPDX-License-Identifier: Apache-2.0
// A whole mesh on one thread, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"

namespace mesh2d {

struct meshed {
  domain input{};  // before its triangles were cut into parts
  part work{};
  size_rule rule{};
  bool finished = false;

  [[nodiscard]] findings checked() const { return check_part(work, rule); }
};

inline meshed mesh_alone(const pslg& input, double degrees, double area_max, std::size_t triangles_max = 400'000) {
  meshed made;
  made.input = make_domain(input);
  find_wedges(made.input);
  shield_small_angles(made.input);
  const std::vector<std::uint32_t> part_of(made.input.mesh.triangles.size());
  made.work = std::move(cut_into_parts(made.input, part_of, 1).front());
  made.rule = size_rule(degrees, area_max, made.input.regions, {});
  made.finished = refiner(made.work, made.rule).refine(triangles_max);
  return made;
}

}  // namespace mesh2d
