// SPDX-License-Identifier: Apache-2.0
// Chooses lengths and subdomains.
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nacre/error.hpp>

#include "plan/surface_points.hpp"

namespace mesh3d {
namespace {

/// Tetrahedra in a cube whose sides are as long as edges should be; measured.
constexpr double tetrahedra_a_cube = 10.7;
constexpr double tetrahedra_a_subdomain = 50'000;

point centre_of(const cube& box) {
  const double half = to_length(box.size) / 2;
  return to_point(box.low) + point{half, half, half};
}

}  // namespace

double expected_tetrahedra(const cube& part, const size_field& size) {
  const double side = to_length(part.size);
  const auto [least, most] = size.around(centre_of(part), side * std::sqrt(3.0) / 2);
  // Where lengths hardly differ within the cube, that at its centre will do.
  const double length = size.at(centre_of(part));
  if (part.size == 1 || most <= 1.6 * least) return tetrahedra_a_cube * std::pow(side / length, 3);
  double sum = 0;
  const std::uint32_t half = part.size / 2;
  for (std::uint32_t k = 0; k < 8; ++k) {
    cube child{part.low, half};
    for (unsigned axis = 0; axis < 3; ++axis) child.low[axis] += (k >> axis & 1) * half;
    sum += expected_tetrahedra(child, size);
  }
  return sum;
}

namespace {

/// The factor for all lengths that gives about so many tetrahedra.
size_field with_tetrahedra(const size_field& size, double wanted) {
  double low = length_min, high = 1e6;
  for (int step = 0; step < 40; ++step) {
    const double middle = std::sqrt(low * high);
    (expected_tetrahedra({}, size.scaled(middle)) > wanted ? low : high) = middle;
  }
  return size.scaled(high);
}

size_field choose_size(const options& asked) {
  size_field size{.everywhere = asked.size > 0 ? asked.size : 0.1, .sources = asked.sources};
  if (asked.tetrahedra > 0) size = with_tetrahedra(size, static_cast<double>(asked.tetrahedra));
  size.everywhere = std::min(size.everywhere, 1.0);
  double least = size.everywhere;
  for (const size_source& each : size.sources) least = std::min(least, each.length);
  if (least >= length_min) return size;
  throw nacre::setup_error({fmt::format("edges would have to be as short as {:.3g}", least),
                            fmt::format("lengths are at least {}", length_min), "ask for fewer tetrahedra"});
}

}  // namespace

plan make_plan(const options& asked) {
  plan made;
  made.rule = {choose_size(asked), asked.ratio_max};
  const size_field& size = made.rule.size;
  const double all = expected_tetrahedra({}, size);
  const double count = asked.subdomains > 0 ? asked.subdomains : std::ceil(all / tetrahedra_a_subdomain);
  if (count > 1u << 20) {
    throw nacre::setup_error({fmt::format("about {:.3g} tetrahedra would need {:.3g} subdomains", all, count),
                              "there are a million at most", "ask for longer edges or fewer tetrahedra"});
  }
  const auto weight = [&](const cube& box) {
    return asked.weigh == weighing::work ? expected_tetrahedra(box, size) : std::pow(to_length(box.size), 3);
  };
  // Smaller cubes would be finer than asked for, since their edges have three steps at least.
  const auto may_split = [&](const cube& box) {
    return expected_tetrahedra(box, size) >= 8 * tetrahedra_a_cube * std::pow(steps_min, 3);
  };
  made.leaves = octree(static_cast<std::uint32_t>(count), weight, may_split).leaves();
  for (const leaf_plan& leaf : made.leaves) {
    made.expected.push_back(expected_tetrahedra(leaf.box, size));
    if (made.expected.back() < 1.2e8) continue;
    throw nacre::setup_error({fmt::format("a subdomain would have {:.3g} tetrahedra", made.expected.back()),
                              "one holds 120 million at most", "ask for more subdomains"});
  }
  return made;
}

}  // namespace mesh3d
