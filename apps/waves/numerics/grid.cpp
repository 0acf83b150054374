// SPDX-License-Identifier: Apache-2.0
// Profiles of absorbing layers.
#include "grid.hpp"

#include <algorithm>

namespace waves {
namespace {

constexpr double smallest_stretch = 1e-4;

/// Rises from 0 at 0 to 1 at 1, with five derivatives that vanish at both.
double ramp(double way) {
  const double x = std::clamp(way, 0.0, 1.0);
  const double factor = 462 + x * (-1980 + x * (3465 + x * (-3080 + x * (1386 - 252 * x))));
  return x * x * x * x * x * x * factor;
}

}  // namespace

axis::axis(int count, int layer_at_begin, int layer_at_end)
    : count_(count), begin_(layer_at_begin), end_(layer_at_end) {
  for (int point = -halo; point < count + halo; ++point) {
    double way = 0;  // into the layer, as a part of its width
    if (begin_ > 0) way = std::max(way, static_cast<double>(begin_ - point) / begin_);
    if (end_ > 0) way = std::max(way, static_cast<double>(point - (count - 1 - end_)) / end_);
    const double stretch = 1 - (1 - smallest_stretch) * ramp(way);
    stretch_.push_back(stretch);
    profile_.push_back(ramp(2 * way) / stretch);
    taper_.push_back(1 - std::min(way, 1.0) * 2 / 3);
  }
}

bool axis::is_near_layer(int point) const noexcept { return point - halo < begin_ || point + halo > count_ - 1 - end_; }

bool grid::has_layers() const noexcept {
  return x.layer_at_begin() + x.layer_at_end() + y.layer_at_begin() + y.layer_at_end() + z.layer_at_end() > 0;
}

}  // namespace waves
