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
  meshed result;
  result.input = make_domain(input);
  find_wedges(result.input);
  shield_small_angles(result.input);
  const std::vector<std::uint32_t> part_of(result.input.mesh.triangles.size());
  result.work = std::move(cut_into_parts(result.input, part_of, 1).front());
  result.rule = size_rule(degrees, area_max, result.input.regions, {});
  result.finished = refiner(result.work, result.rule).refine(triangles_max);
  return result;
}

}  // namespace mesh2d
