// SPDX-License-Identifier: Apache-2.0
// The grid: extents, spacing, and the layers at its sides that absorb waves (Petersson and Sjogreen, Commun. Comput.
// Phys. 16 (2014) 913).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace waves {

/// An axis with absorbing layers at one end or at both. All values are at points -halo to count - 1 + halo.
class axis {
 public:
  axis() = default;
  axis(int count, int layer_at_begin, int layer_at_end);

  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] int layer_at_begin() const noexcept { return begin_; }
  [[nodiscard]] int layer_at_end() const noexcept { return end_; }
  /// Whether a point, or one of its neighbours that an operator reads, is in a layer.
  [[nodiscard]] bool is_near_layer(int point) const noexcept;
  /// The factor s of derivatives: 1 outside of layers, falling to 1e-4.
  [[nodiscard]] double stretch(int point) const noexcept { return stretch_[index(point)]; }
  /// The profile p of damping: 0 outside of layers.
  [[nodiscard]] double profile(int point) const noexcept { return profile_[index(point)]; }
  /// The factor of damping along the other axes: 1 outside of layers, falling to 1/3.
  [[nodiscard]] double taper(int point) const noexcept { return taper_[index(point)]; }

 private:
  [[nodiscard]] static std::size_t index(int point) noexcept { return static_cast<std::size_t>(point + halo); }
  int count_ = 0, begin_ = 0, end_ = 0;
  std::vector<double> stretch_, profile_, taper_;
};

/// What is at z = 0. The other five sides have no motion outside, or that of a given solution.
enum class top_side : std::uint8_t { free_surface, as_other_sides };

struct grid {
  axis x, y, z;
  double h = 1;   ///< metres between points
  double dt = 1;  ///< seconds of a step
  top_side top = top_side::free_surface;
  /// Metres of the point 0 on each axis: layers lie outside of the box that the user describes.
  std::array<double, 3> origin{};

  [[nodiscard]] std::int64_t points() const noexcept { return std::int64_t{x.count()} * y.count() * z.count(); }
  [[nodiscard]] bool has_layers() const noexcept;
};

}  // namespace waves
