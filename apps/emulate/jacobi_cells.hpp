// SPDX-License-Identifier: Apache-2.0
// A relaxation in one plain loop over all cells: what the emulated nodes compute together must equal it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree_reduction.hpp"

namespace emulate {

/// The six sides of a box: 2 * axis, plus 1 where the coordinate is high.
inline constexpr std::uint32_t sides = 6;

/// The value that the world has beyond a side; each side another, so that no two can be mistaken for each other.
[[nodiscard]] constexpr double boundary_value(std::uint32_t side) noexcept { return 0.25 * side - 0.5; }

/// The value of a cell at the beginning.
[[nodiscard]] constexpr double initial_value(std::int64_t x, std::int64_t y, std::int64_t z) noexcept {
  return mixed_unit(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>((y << 32) ^ z));
}

/// A box of cells with a layer of others around it. One sweep of Jacobi's relaxation gives each cell the mean of its
/// six neighbours.
class cell_box {
 public:
  cell_box() = default;
  cell_box(std::int64_t x, std::int64_t y, std::int64_t z)
      : x_(x), y_(y), z_(z), values_(static_cast<std::size_t>((x + 2) * (y + 2) * (z + 2))), next_(values_) {}

  /// Coordinates from -1 to the extent.
  [[nodiscard]] double& at(std::int64_t x, std::int64_t y, std::int64_t z) noexcept { return values_[index(x, y, z)]; }
  [[nodiscard]] double at(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
    return values_[index(x, y, z)];
  }

  /// Replaces all cells; the layer around them stays. Returns the largest change.
  double sweep() {
    double most = 0;
    for (std::int64_t z = 0; z < z_; ++z) {
      for (std::int64_t y = 0; y < y_; ++y) {
        for (std::int64_t x = 0; x < x_; ++x) {
          // The order of the additions is part of the result.
          const double sum =
              at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1);
          const double mean = sum / 6;
          next_[index(x, y, z)] = mean;
          most = std::max(most, std::fabs(mean - at(x, y, z)));
        }
      }
    }
    for (std::int64_t z = 0; z < z_; ++z) {
      for (std::int64_t y = 0; y < y_; ++y) {
        const auto row = static_cast<std::ptrdiff_t>(index(0, y, z));
        std::copy_n(next_.begin() + row, x_, values_.begin() + row);
      }
    }
    return most;
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(x_, y_, z_, values_);
    next_.resize(values_.size());
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
    return static_cast<std::size_t>(x + 1 + (x_ + 2) * (y + 1 + (y_ + 2) * (z + 1)));
  }
  std::int64_t x_ = 0, y_ = 0, z_ = 0;
  std::vector<double> values_;
  std::vector<double> next_;  ///< of use during a sweep only
};

}  // namespace emulate
