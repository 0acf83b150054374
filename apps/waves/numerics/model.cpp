// SPDX-License-Identifier: Apache-2.0
// Looks materials up, and takes means at interfaces.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "manufactured.hpp"

namespace waves {
namespace {

/// Depths this near to an edge, in units of h, count as at it: depths are products of floating-point numbers.
constexpr double tolerance = 1e-6;

/// A number from 0.5 to 1.5 that depends on the place and on `index`, after splitmix64.
double random_factor(const model& model, const position& position, std::uint64_t index) {
  std::uint64_t state = model.seed * 0x9e3779b97f4a7c15u + index;
  for (const double each : position) {
    state += 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(std::llround(each / model.h) + (1ll << 32));
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    state ^= state >> 31;
  }
  return 0.5 + static_cast<double>(state >> 11) * 0x1p-53;
}

isotropic nearest(const raster& points, const position& position) {
  std::array<std::size_t, 3> values{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double place = std::round((position[axis] - points.low[axis]) / points.spacing[axis]);
    values[axis] = static_cast<std::size_t>(std::clamp(place, 0.0, points.count[axis] - 1.0));
  }
  const auto nx = static_cast<std::size_t>(points.count[0]), ny = static_cast<std::size_t>(points.count[1]);
  return points.materials[values[0] + nx * (values[1] + ny * values[2])];
}

bool is_inside(const block& box, const position& position, double slack) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (position[axis] < box.low[axis] - slack || position[axis] > box.high[axis] + slack) return false;
  }
  return true;
}

}  // namespace

stiffness mean_of(const std::vector<thin_layer>& layers, interface_mean mean) {
  stiffness result;
  result.rho = 0;
  double lambda = 0, mu = 0, normal = 0, ratio = 0, in_plane = 0, shear = 0;  // the first three: of inverses
  for (const auto& [part, m] : layers) {
    result.rho += part * m.rho;
    lambda += part / m.lambda;
    mu += part / m.mu;
    normal += part / m.normal();
    ratio += part * m.lambda / m.normal();
    in_plane += part * 4 * m.mu * (m.lambda + m.mu) / m.normal();
    shear += part * m.mu;
  }
  if (mean == interface_mean::harmonic) return stiffness(isotropic{1 / lambda, 1 / mu, result.rho});
  result.c33 = 1 / normal;
  result.c44 = 1 / mu;
  result.c66 = shear;
  result.c13 = result.c33 * ratio;
  result.c11 = in_plane + result.c13 * result.c13 / result.c33;
  result.c12 = result.c11 - 2 * result.c66;
  return result;
}

isotropic model::layer_at(double depth) const {
  const isotropic* match = &layers.front().material;
  for (const layer& each : layers) {
    if (depth >= each.top) match = &each.material;
  }
  return *match;
}

bool model::has_interface(double depth) const {
  for (std::size_t k = 1; k < layers.size(); ++k) {
    if (std::abs(layers[k].top - depth) < (0.5 - tolerance) * h) return true;
  }
  return false;
}

stiffness model::mean_around(double depth) const {
  const double low = depth - h / 2, high = depth + h / 2;
  std::vector<thin_layer> parts;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const double top = k == 0 ? low : std::max(low, layers[k].top);
    const double bottom = k + 1 == layers.size() ? high : std::min(high, layers[k + 1].top);
    if (bottom > top) parts.push_back({(bottom - top) / h, layers[k].material});
  }
  return mean_of(parts, mean);
}

stiffness model::at(const position& position) const {
  if (kind == variation::waves) return stiffness(manufactured_material(position));
  const double slack = tolerance * h;
  for (auto box = blocks.rbegin(); box != blocks.rend(); ++box) {
    if (is_inside(*box, position, slack)) return stiffness(box->material);
  }
  if (!points.materials.empty()) return stiffness(nearest(points, position));
  if (has_interface(position[2])) return mean_around(position[2]);
  isotropic material = layer_at(position[2]);
  if (kind == variation::random) {
    material.lambda *= random_factor(*this, position, 0);
    material.mu *= random_factor(*this, position, 1);
    material.rho *= random_factor(*this, position, 2);
  }
  return stiffness(material);
}

}  // namespace waves
