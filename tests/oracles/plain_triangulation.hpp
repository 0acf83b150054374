// SPDX-License-Identifier: Apache-2.0
// The triangulation that mesh2d --no-refine makes, in terms that other programs have, too.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "kernel/place_input.hpp"
#include "parallel/plan.hpp"

namespace mesh2d::tests {

struct plain_triangulation {
  std::vector<std::array<point, 3>> triangles{};
  std::vector<point> placed{};                         // the points of the input, after those together were merged
  std::vector<std::pair<point, point>> constrained{};  // sides
  std::vector<std::pair<point, point>> bent{};         // of them, those beside the line of their segment
};

/// None for an input that is refused.
inline std::optional<plain_triangulation> triangulate_plainly(const pslg& input) {
  plain_triangulation result;
  options asked{.no_refine = true, .subdomains = 1};
  try {
    domain whole;
    place_input(input, whole);  // with all that is outside, which holes may be bounded by
    result.placed = whole.points;
    for (index t = 0; t < whole.mesh.triangles.size(); ++t) {
      for (unsigned k = 0; k < 3; ++k) {
        const side s = side_of(t, k);
        if (!whole.mesh.constrained(s)) continue;
        const point &a = whole.mesh.at(whole.mesh.origin(s)), &b = whole.mesh.at(whole.mesh.target(s));
        const auto& value = input.segments[whole.names.find(whole.mesh.origin(s), whole.mesh.target(s))];
        const point &source = whole.points[value.begin], &target = whole.points[value.end];
        result.constrained.emplace_back(a, b);
        if (orient(source, target, a) != 0 || orient(source, target, b) != 0) result.bent.emplace_back(a, b);
      }
    }
    const plan planned = make_plan(input, asked);
    const triangulation& mesh = planned.parts.at(0).mesh;
    for (const triangle& each : mesh.triangles) {
      result.triangles.push_back({mesh.at(each.corner[0]), mesh.at(each.corner[1]), mesh.at(each.corner[2])});
    }
  } catch (const nacre::setup_error&) {
    return std::nullopt;
  }
  return result;
}

}  // namespace mesh2d::tests
