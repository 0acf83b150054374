// SPDX-License-Identifier: Apache-2.0
// Memory that a thread needs while it computes a patch.
#pragma once

#include <cstddef>
#include <memory>

#include "row_kernels.hpp"
#include "rows.hpp"

namespace waves {

/// Rings of stresses: of the last eight planes, and of the last eight rows of a plane.
class scratch {
 public:
  static constexpr int slots = 8;
  static constexpr int parts = 4;  ///< of a row: three stresses, and a slope

  /// Makes room for a patch; for one that is not larger than an earlier one nothing happens.
  void fit(const patch_box& box);
  /// A row of a plane, the planes from -halo on.
  [[nodiscard]] triple plane(int y, int z) noexcept { return row_at((z + halo) % slots * ny_ + y); }
  /// A row beside the patch or in it, from -halo on.
  [[nodiscard]] triple side(int y) noexcept { return row_at(slots * ny_ + (y + halo) % slots); }
  [[nodiscard]] triple line() noexcept { return row_at(slots * ny_ + slots); }
  [[nodiscard]] triple sum() noexcept { return row_at(slots * ny_ + slots + 1); }
  /// Three rows of anything.
  [[nodiscard]] triple other() noexcept { return row_at(slots * ny_ + slots + 2); }

 private:
  [[nodiscard]] triple row_at(int number) noexcept {
    return {memory_.get() + lanes_max + parts * length_ * number, length_};
  }
  std::unique_ptr<double[], free_memory> memory_;
  std::ptrdiff_t length_ = 0;
  int nx_ = 0, ny_ = 0;
};

}  // namespace waves
