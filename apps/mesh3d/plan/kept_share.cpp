// SPDX-License-Identifier: Apache-2.0
// Divides cubes that the surface crosses.
#include "plan/kept_share.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace mesh3d {
namespace {

constexpr std::uint32_t smallest = cube_size >> 6;

std::array<cube, 8> parts_of(const cube& whole) {
  std::array<cube, 8> parts{};
  for (std::uint32_t k = 0; k < 8; ++k) {
    parts[k] = {whole.low, whole.size / 2};
    for (unsigned axis = 0; axis < 3; ++axis) parts[k].low[axis] += (k >> axis & 1) * parts[k].size;
  }
  return parts;
}

double volume_of(const cube& part) { return std::pow(to_length(part.size), 3); }

}  // namespace

kept_share::kept_share(const surface_in_cube& surface, sides keep) : tree_(surface.tree()), keep_(keep) {
  if (keep_ == sides::both) return;
  double inside = 0, crossed = 0;
  add_volumes({}, inside, crossed);
  if (crossed > 0) crossed_share_ = std::clamp((surface.of().volume - inside) / crossed, 0.0, 1.0);
}

double kept_share::share(const cube& part) {
  if (keep_ == sides::both) return 1;
  return keep_ == sides::inside ? inner(part) : 1 - inner(part);
}

bool kept_share::may_cross(const cube& part) const {
  const double side = to_length(part.size);
  const point low = to_point(part.low);
  bool crosses = false;
  tree_.for_each_in(low, low + point{side, side, side}, [&](std::uint32_t) {
    crosses = true;
    return false;
  });
  return crosses;
}

bool kept_share::is_inside(const cube& part) const {
  const double half = to_length(part.size) / 2;
  return tree_.inside(to_point(part.low) + point{half, half, half});
}

void kept_share::add_volumes(const cube& part, double& inside, double& crossed) const {
  if (!may_cross(part)) {
    inside += is_inside(part) ? volume_of(part) : 0;
  } else if (part.size <= smallest) {
    crossed += volume_of(part);
  } else {
    for (const cube& each : parts_of(part)) add_volumes(each, inside, crossed);
  }
}

double kept_share::inner(const cube& part) {
  const auto known = known_.find(part);
  if (known != known_.end()) return known->second;
  double sum = 0;
  if (!may_cross(part)) {
    sum = is_inside(part) ? 1 : 0;
  } else if (part.size <= smallest) {
    sum = crossed_share_;
  } else {
    for (const cube& each : parts_of(part)) sum += inner(each) / 8;
  }
  known_.emplace(part, sum);
  return sum;
}

}  // namespace mesh3d
