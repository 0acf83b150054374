// SPDX-License-Identifier: Apache-2.0
// Chooses lengths and subdomains.
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "meshing/memory.hpp"
#include "plan/hull_points.hpp"
#include "plan/kept_share.hpp"
#include "surface/readers.hpp"
#include "surface/shapes.hpp"

namespace mesh3d {
namespace {

/// Tetrahedra in a cube whose sides are as long as edges should be; measured.
constexpr double tetrahedra_a_cube = 10.7;
constexpr double tetrahedra_a_subdomain = 50'000;
/// At rest, with a sixth of a vertex.
constexpr double bytes_expected = 36;

point centre_of(const cube& box) {
  const double half = to_length(box.size) / 2;
  return to_point(box.low) + point{half, half, half};
}

/// Expects tetrahedra in cubes, and remembers what large ones had. `kept` leaves out those that are not kept, if it is
/// not null.
class expectation {
 public:
  explicit expectation(const size_field& size, kept_share* kept = nullptr)
      : size_(size), kept_(kept), ratio_(size.surface == nullptr ? 1.6 : 2.5) {}

  double of(const cube& part) {
    const bool large = part.size >= cube_size >> 6;
    if (large) {
      const auto known = known_.find(part);
      if (known != known_.end()) return known->second;
    }
    const double count = look_at(part);
    if (large) known_.emplace(part, count);
    return count;
  }

 private:
  double look_at(const cube& part) {
    const double side = to_length(part.size);
    const auto [least, most] = size_.around(centre_of(part), side * std::sqrt(3.0) / 2);
    if (part.size == 1 || most <= ratio_ * least) {  // lengths hardly differ, so that at the centre will do
      const double share = kept_ == nullptr ? 1 : kept_->share(part);
      return share == 0 ? 0 : share * tetrahedra_a_cube * std::pow(side / size_.at(centre_of(part)), 3);
    }
    double sum = 0;
    const std::uint32_t half = part.size / 2;
    for (std::uint32_t k = 0; k < 8; ++k) {
      cube child{part.low, half};
      for (unsigned axis = 0; axis < 3; ++axis) child.low[axis] += (k >> axis & 1) * half;
      sum += of(child);
    }
    return sum;
  }

  const size_field& size_;
  kept_share* kept_;
  double ratio_;
  std::map<cube, double> known_{};
};

/// The factor for all lengths that gives about so many tetrahedra that are kept.
size_field with_tetrahedra(const size_field& size, double wanted, kept_share* kept) {
  if (kept != nullptr) {  // looks at no field that is much finer: that would take long
    double factor = 1;
    for (int step = 0; step < 8; ++step) {
      const size_field scaled = size.scaled(factor);
      const double ratio = expectation(scaled, kept).of({}) / wanted;
      factor *= std::clamp(std::cbrt(ratio), 0.25, 1e6);
      if (std::abs(ratio - 1) < 0.01) break;
    }
    return size.scaled(factor);
  }
  double low = length_min, high = 1e6;
  for (int step = 0; step < 40; ++step) {
    const double middle = std::sqrt(low * high);
    (expected_tetrahedra({}, size.scaled(middle)) > wanted ? low : high) = middle;
  }
  return size.scaled(high);
}

std::shared_ptr<const surface_in_cube> make_surface(const options& asked, double length_max) {
  if (asked.input.empty()) return nullptr;
  std::optional<surface_mesh> mesh = make_shape(asked.input);
  if (!mesh) {
    if (!names_surface_file(asked.input)) {
      throw nacre::setup_error({fmt::format("'{}' is no surface", asked.input),
                                fmt::format("there are {}, and files that end in .off, .stl or .obj", shape_names),
                                "check the name"});
    }
    mesh = read_surface(asked.input);
  }
  surface_rule rule = asked.surface;
  rule.length_max = std::min(rule.length_max > 0 ? rule.length_max : length_max, length_max);
  return std::make_shared<const surface_in_cube>(place_surface(std::move(*mesh), rule, asked.input));
}

/// The least length that edges should have anywhere.
double least_length(const size_field& size, const surface_in_cube* surface) {
  double least = size.everywhere;
  for (const size_source& each : size.sources) least = std::min(least, each.length);
  if (surface == nullptr) return least;
  const std::vector<double>& lengths = surface->of().lengths;
  return std::min(least, size.surface_factor * *std::min_element(lengths.begin(), lengths.end()));
}

void choose_size(const options& asked, plan& plan) {
  size_field size{.everywhere = asked.size > 0 ? asked.size : 0.1, .sources = asked.sources};
  plan.surface = make_surface(asked, size.everywhere);
  if (plan.surface != nullptr) {
    size.surface = &plan.surface->tree();
    size.surface_growth = plan.surface->of().growth;
    for (size_source& each : size.sources) each.position = plan.surface->of().place.into_cube(each.position);
  }
  if (asked.tetrahedra > 0) {
    std::optional<kept_share> kept;
    if (plan.surface != nullptr) kept.emplace(*plan.surface, asked.keep);
    size = with_tetrahedra(size, static_cast<double>(asked.tetrahedra), kept ? &*kept : nullptr);
  }
  size.everywhere = std::min(size.everywhere, 1.0);
  const double least = least_length(size, plan.surface.get());
  if (least < length_min) {
    throw nacre::setup_error({fmt::format("edges would have to be as short as {:.3g}", least),
                              fmt::format("lengths are at least {}", length_min), "ask for fewer tetrahedra"});
  }
  plan.rule = {size, asked.ratio_max, asked.sliver_degrees};
}

}  // namespace

double expected_tetrahedra(const cube& part, const size_field& size) { return expectation(size).of(part); }

plan make_plan(const options& asked, double memory_bytes) {
  plan result;
  choose_size(asked, result);
  const size_field& size = result.rule.size;
  expectation expected(size);
  const double all = expected.of({});
  meshing::demand_memory({.elements = all,
                          .bytes_each = bytes_expected,
                          .memory_bytes = memory_bytes,
                          .name = "tetrahedra in the whole cube",
                          .remedy = "ask for longer edges or fewer tetrahedra"});
  const double count = asked.subdomains > 0 ? asked.subdomains : std::ceil(all / tetrahedra_a_subdomain);
  if (count > 1u << 20) {
    throw nacre::setup_error({fmt::format("about {:.3g} tetrahedra would need {:.3g} subdomains", all, count),
                              "there are a million at most", "ask for longer edges or fewer tetrahedra"});
  }
  const auto weight = [&](const cube& box) {
    return asked.weigh == weighing::work ? expected.of(box) : std::pow(to_length(box.size), 3);
  };
  // Smaller cubes would be finer than asked for, since their edges have three steps at least.
  const auto may_split = [&](const cube& box) {
    return expected.of(box) >= 8 * tetrahedra_a_cube * std::pow(steps_min, 3);
  };
  result.leaves = octree(static_cast<std::uint32_t>(count), weight, may_split).leaves();
  for (const leaf_plan& leaf : result.leaves) {
    result.expected.push_back(expected.of(leaf.box));
    if (result.expected.back() < 1.2e8) continue;
    throw nacre::setup_error({fmt::format("a subdomain would have {:.3g} tetrahedra", result.expected.back()),
                              "one holds 120 million at most", "ask for more subdomains"});
  }
  return result;
}

}  // namespace mesh3d
