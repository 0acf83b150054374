// SPDX-License-Identifier: Apache-2.0
// Looks for materials that touch.
#include "speed_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "manufactured.hpp"

namespace waves {
namespace {

constexpr double thick_part = 0.55, thin_part = 0.85;  // of stiff moduli over a light density
constexpr double thick_points = 4;                     // what has so many points, or more, is thick
constexpr double touching = 1.5 - 1e-6;                // in units of h: a point and a half, with the plane of a mean
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The box of a layer or a block.
struct region {
  position low{}, high{};
  isotropic material;
};

bool touch(const region& a, const region& b, double h) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (std::max(a.low[axis] - b.high[axis], b.low[axis] - a.high[axis]) >= touching * h) return false;
  }
  return true;
}

std::vector<region> regions_of(const model& material) {
  std::vector<region> regions;
  const std::size_t layers = material.points.materials.empty() ? material.layers.size() : 0;  // a raster replaces them
  for (std::size_t k = 0; k < layers; ++k) {
    const double top = k == 0 ? -infinity : material.layers[k].top;
    const double bottom = k + 1 < layers ? material.layers[k + 1].top : infinity;
    regions.push_back({{-infinity, -infinity, top}, {infinity, infinity, bottom}, material.layers[k].material});
  }
  for (const block& each : material.blocks) regions.push_back({each.low, each.high, each.material});
  return regions;
}

/// Whether two borders along one axis are nearer than thick_points, so that a region or a gap may be thin.
bool has_thin_parts(const model& material) {
  const double thick = thick_points * material.h, same = 1e-6 * material.h;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> borders;
    if (axis == 2) {
      borders.push_back(0);
      for (std::size_t k = 1; k < material.layers.size(); ++k) borders.push_back(material.layers[k].top);
    }
    for (const block& each : material.blocks) {
      if (each.high[axis] - each.low[axis] < thick) return true;
      borders.push_back(each.low[axis]);
      borders.push_back(each.high[axis]);
    }
    std::sort(borders.begin(), borders.end());
    for (std::size_t k = 1; k < borders.size(); ++k) {
      const double gap = borders[k] - borders[k - 1];
      if (gap > same && gap < thick) return true;
    }
  }
  return false;
}

class bound {
 public:
  bound(const model& material, top_side top) : material_(material), top_(top) {}

  double run() {
    for (const layer& each : material_.layers) add(each.material, each.material.rho, 1);
    for (const block& each : material_.blocks) add(each.material, each.material.rho, 1);
    for (const isotropic& each : material_.points.materials) add(each, each.rho, 1);
    add_regions();
    if (!material_.points.materials.empty()) add_raster();
    return greatest_;
  }

 private:
  void add(const isotropic& stiff, double rho, double part) {
    const double ratio = stiff.mu / stiff.normal();
    const double surface = top_ == top_side::free_surface ? std::max(1.0, 1.23 - 2.2 * ratio) : 1.0;
    greatest_ = std::max(greatest_, (4 * stiff.mu + stiff.lambda) / rho * surface * part);
  }
  void add_pair(const isotropic& a, const isotropic& b, double part) {
    add(a, b.rho, part);
    add(b, a.rho, part);
  }

  void add_regions() {
    const double part = has_thin_parts(material_) ? thin_part : thick_part;
    const std::vector<region> regions = regions_of(material_);
    for (std::size_t a = 0; a < regions.size(); ++a) {
      for (std::size_t b = a + 1; b < regions.size(); ++b) {
        if (touch(regions[a], regions[b], material_.h)) add_pair(regions[a].material, regions[b].material, part);
      }
    }
  }

  /// Materials of a raster that are at neighbours of the grid, along one axis, and those at blocks.
  void add_raster() {
    const raster& points = material_.points;
    for_each({0, 0, 0}, {points.count[0] - 1, points.count[1] - 1, points.count[2] - 1}, [&](std::array<int, 3> place) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const int reach = std::min(static_cast<int>(std::min(std::ceil(material_.h / points.spacing[axis]), 1e6)),
                                   points.count[axis] - 1 - place[axis]);
        for (int distance = 1; distance <= reach; ++distance) {
          std::array<int, 3> neighbour = place;
          neighbour[axis] += distance;
          add_pair(at(place), at(neighbour), thin_part);
        }
      }
    });
    for (const block& each : material_.blocks) {
      std::array<int, 3> first{}, last{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto nearest = [&](double metres) {
          const double place = std::round((metres - points.low[axis]) / points.spacing[axis]);
          return static_cast<int>(std::clamp(place, 0.0, points.count[axis] - 1.0));
        };
        first[axis] = nearest(each.low[axis] - touching * material_.h);
        last[axis] = nearest(each.high[axis] + touching * material_.h);
      }
      for_each(first, last, [&](std::array<int, 3> place) { add_pair(at(place), each.material, thin_part); });
    }
  }

  [[nodiscard]] const isotropic& at(std::array<int, 3> place) const {
    const std::array<int, 3>& count = material_.points.count;
    const auto x = static_cast<std::size_t>(place[0]), y = static_cast<std::size_t>(place[1]);
    const auto nx = static_cast<std::size_t>(count[0]), ny = static_cast<std::size_t>(count[1]);
    return material_.points.materials[x + nx * (y + ny * static_cast<std::size_t>(place[2]))];
  }
  template <class Act>
  static void for_each(std::array<int, 3> first, std::array<int, 3> last, Act&& act) {
    for (int z = first[2]; z <= last[2]; ++z) {
      for (int y = first[1]; y <= last[1]; ++y) {
        for (int x = first[0]; x <= last[0]; ++x) act({x, y, z});
      }
    }
  }

  const model& material_;
  top_side top_;
  double greatest_ = 0;
};

}  // namespace

double greatest_speed_squared(const model& material, top_side top) {
  if (material.kind == variation::waves) return manufactured_speed_squared();
  const double greatest = bound(material, top).run();
  return material.kind == variation::random ? 3 * greatest : greatest;  // 1.5 / 0.5
}

double least_shear_speed(const model& material) {
  double least = infinity;
  const auto add = [&](const isotropic& each) { least = std::min(least, each.mu / each.rho); };
  if (material.points.materials.empty()) {
    for (const layer& each : material.layers) add(each.material);
  }
  for (const block& each : material.blocks) add(each.material);
  for (const isotropic& each : material.points.materials) add(each);
  return std::sqrt(material.kind == variation::random ? least / 3 : least);  // 0.5 / 1.5
}

}  // namespace waves
