// SPDX-License-Identifier: Apache-2.0
// The materials at the rows of a patch. Rows that have the same are kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "problem.hpp"
#include "row_kernels.hpp"
#include "rows.hpp"

namespace waves {

/// What is computed at a row.
enum class row_use : std::uint8_t {
  uniform = 1,       ///< one material at the row and at all that it reads, so that it takes the fast way
  plane_mixed = 2,   ///< stresses for derivatives along z, where a row that reads them is not uniform
  plane_slopes = 4,  ///< slopes for derivatives along z, where one is
  side_mixed = 8,    ///< the same along y
  side_slopes = 16
};

class patch_material {
 public:
  patch_material() = default;
  patch_material(const problem& problem, const patch_box& box);

  [[nodiscard]] material_view at(int y, int z) const noexcept {
    return {row_at(y, z), component_, layered_[static_cast<std::size_t>(z + halo)] != 0};
  }
  [[nodiscard]] const double* row_at(int y, int z) const noexcept { return rows_[number_of(y, z)]; }
  [[nodiscard]] const double* density_inverse(int y, int z) const noexcept { return row_at(y, z) + 2 * component_; }
  [[nodiscard]] bool is(row_use use, int y, int z) const noexcept {
    return (uses_[number_of(y, z)] & static_cast<std::uint8_t>(use)) != 0;
  }
  [[nodiscard]] std::size_t uniform_rows() const noexcept { return uniform_rows_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  class builder;
  [[nodiscard]] std::size_t number_of(int y, int z) const noexcept {
    return static_cast<std::size_t>((z + halo) * row_count_ + y + halo);
  }

  std::vector<std::unique_ptr<double[], free_memory>> slabs_;
  std::vector<const double*> rows_;    // for each row of the box and its halo
  std::vector<std::uint8_t> uses_;     // sums of row_use
  std::vector<std::uint8_t> layered_;  // for each plane: whether it has an interface
  std::ptrdiff_t component_ = 0;
  std::size_t doubles_ = 0, uniform_rows_ = 0;
  int row_count_ = 0;  // of a plane with its halo
};

}  // namespace waves
