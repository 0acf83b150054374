// SPDX-License-Identifier: Apache-2.0
// Memory of a patch: rows along x with room for the neighbours' points, laid out for wide loads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace waves {

/// Points beside a patch that its operator reads.
inline constexpr int halo = 2;
/// Doubles of the widest vector. Rows begin at its multiples, and loops compute whole ones.
inline constexpr int lanes_max = 8;

/// The part of the grid that a patch computes: all points along x, `ny` rows from row `y` of plane `z` on, `nz` planes.
struct patch_box {
  int y = 0, z = 0;
  int nx = 0, ny = 0, nz = 0;
  bool operator==(const patch_box&) const = default;
  /// Whether a row of the grid is in it.
  [[nodiscard]] bool contains(int row_y, int row_z) const noexcept {
    return row_y >= y && row_y < y + ny && row_z >= z && row_z < z + nz;
  }
};

/// Distances in doubles between neighbours of one component.
struct strides {
  std::ptrdiff_t component = 0, row = 0, plane = 0;
};

/// Doubles from the beginning of a row to the beginning of the next one.
[[nodiscard]] constexpr std::ptrdiff_t row_length(int nx) noexcept {
  const std::ptrdiff_t length = (nx + lanes_max - 1) / lanes_max * lanes_max + lanes_max;
  return length % 64 == 0 ? length + lanes_max : length;  // rows a power of two apart share the sets of a cache
}
/// Points of a row that loops compute: `nx`, and up to 7 points behind them whose density is taken as infinite.
[[nodiscard]] constexpr int computed_length(int nx) noexcept { return (nx + lanes_max - 1) / lanes_max * lanes_max; }

struct free_memory {
  void operator()(double* memory) const noexcept;
};
/// `count` zeros that begin at a multiple of 64 bytes.
[[nodiscard]] std::unique_ptr<double[], free_memory> aligned_zeros(std::size_t count);

/// Values at the points of a box and at `halo` points around it, some components at each. Zero at first. The components
/// of a row follow one another; points -8 to -1 in front of a row are those behind the row before.
class rows {
 public:
  rows() = default;
  rows(const patch_box& box, int components);

  [[nodiscard]] double* at(int component, int y, int z) noexcept {
    return memory_.get() + origin_ + component * steps_.component + y * steps_.row + z * steps_.plane;
  }
  [[nodiscard]] const double* at(int component, int y, int z) const noexcept {
    return const_cast<rows*>(this)->at(component, y, z);
  }
  [[nodiscard]] const strides& steps() const noexcept { return steps_; }
  [[nodiscard]] int components() const noexcept { return components_; }
  /// All memory, padding as well.
  [[nodiscard]] std::span<double> all() noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::span<const double> all() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(double); }
  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }

 private:
  std::unique_ptr<double[], free_memory> memory_;
  std::size_t size_ = 0;
  std::ptrdiff_t origin_ = 0;
  strides steps_;
  int components_ = 0;
};

}  // namespace waves
