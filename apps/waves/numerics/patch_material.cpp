// SPDX-License-Identifier: Apache-2.0
// Looks the materials of a patch up, and finds rows that are equal.
#include "patch_material.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "boundary_stencils.hpp"

namespace waves {
namespace {

constexpr int isotropic_parts = 3, layered_parts = 7;
constexpr std::size_t slab_rows_max = 16;

}  // namespace

/// Fills a material. Two rows are equal when all their bits are, so what is found does not depend on the cut.
class patch_material::builder {
 public:
  builder(const problem& problem, const patch_box& box, patch_material& patch_material)
      : problem_(problem), box_(box), material_(patch_material), end_(computed_length(box.nx) + halo) {
    material_.component_ = row_length(box.nx);
    material_.row_count_ = box.ny + 2 * halo;
    scratch_.resize(size_of(true));
  }

  void run() {
    const auto count = static_cast<std::size_t>(material_.row_count_ * (box_.nz + 2 * halo));
    material_.rows_.reserve(count);
    material_.uses_.resize(count);
    for (int z = -halo; z < box_.nz + halo; ++z) {
      const int gz = nearest(box_.z + z, problem_.grid.z);
      const model& material = problem_.material;
      const double depth = problem_.place_of(0, 0, gz)[2];
      const bool layered = material.mean == interface_mean::thin_layer && material.has_interface(depth);
      material_.layered_.push_back(layered ? 1 : 0);
      for (int y = -halo; y < box_.ny + halo; ++y) {
        look_up(nearest(box_.y + y, problem_.grid.y), gz, layered);
        material_.rows_.push_back(kept_row(layered));
      }
    }
    for (int z = 0; z < box_.nz; ++z) {
      for (int y = 0; y < box_.ny; ++y) mark(y, z);
    }
  }

 private:
  /// What is outside of the grid goes on as the exact solution has it, or as it is at the border.
  [[nodiscard]] int nearest(int point, const axis& along) const {
    const int neighbour = problem_.exact ? halo : 0;
    return std::clamp(point, -neighbour, along.count() - 1 + neighbour);
  }

  /// Writes a row to the scratch memory, behind the points in front of it.
  void look_up(int gy, int gz, bool layered) {
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    double* row = scratch_.data() + lanes_max;
    for (int x = -halo; x < end_; ++x) {
      const stiffness value = problem_.material.at(problem_.place_of(nearest(x, problem_.grid.x), gy, gz));
      const double moduli[] = {value.c33, value.c44}, others[] = {value.c11, value.c12, value.c13, value.c66};
      for (int part = 0; part < 2; ++part) row[part * material_.component_ + x] = moduli[part];
      if (x >= 0 && x < box_.nx) row[2 * material_.component_ + x] = 1 / value.rho;  // outside nothing moves
      for (int part = 0; layered && part < 4; ++part)
        row[(isotropic_parts + part) * material_.component_ + x] = others[part];
    }
  }

  /// Doubles of a row with the points in front of it, and with those behind it that are not zero.
  [[nodiscard]] std::size_t size_of(bool layered) const {
    return static_cast<std::size_t>(layered ? layered_parts * material_.component_ + lanes_max
                                            : isotropic_parts * material_.component_);
  }

  /// The row with these bits, which is new if there was none.
  const double* kept_row(bool layered) {
    const std::size_t size = size_of(layered);
    const std::string_view bits(reinterpret_cast<const char*>(scratch_.data()), size * sizeof(double));
    if (const auto match = known_.find(bits); match != known_.end()) return match->second;
    if (slab_left_ < size) {
      slab_left_ = std::clamp<std::size_t>(known_.size(), 1, slab_rows_max) * size;
      material_.slabs_.push_back(aligned_zeros(slab_left_ + lanes_max));
      material_.doubles_ += slab_left_ + lanes_max;
      next_ = material_.slabs_.back().get();
    }
    std::memcpy(next_, scratch_.data(), size * sizeof(double));
    const double* row = next_ + lanes_max;
    known_.emplace(std::string_view(reinterpret_cast<const char*>(next_), size * sizeof(double)), row);
    next_ += size;
    slab_left_ -= size;
    return row;
  }

  [[nodiscard]] bool has_surface() const { return problem_.grid.top == top_side::free_surface; }

  [[nodiscard]] bool is_constant(int y, int z) {
    const double* row = material_.row_at(y, z);
    const auto [entry, is_new] = constant_.try_emplace(row, false);
    if (is_new) {
      const auto has_one_value = [](const double* begin, const double* end) {
        return std::all_of(begin, end, [&](double each) { return each == *begin; });
      };
      const double *shear = row + material_.component_, *inverse = shear + material_.component_;
      entry->second = has_one_value(row - halo, row + box_.nx + halo) &&
                      has_one_value(shear - halo, shear + box_.nx + halo) && has_one_value(inverse, inverse + box_.nx);
    }
    return entry->second;
  }

  [[nodiscard]] bool is_uniform(int y, int z) {
    if (has_surface() && box_.z + z < second_edge_rows) return false;
    if (material_.layered_[static_cast<std::size_t>(z + halo)] != 0 || !is_constant(y, z)) return false;
    const double* row = material_.row_at(y, z);
    for (int k = -halo; k <= halo; ++k) {
      if (material_.row_at(y + k, z) != row || material_.row_at(y, z + k) != row) return false;
    }
    return true;
  }

  void add(row_use use, int y, int z) {
    std::uint8_t& uses = material_.uses_[material_.number_of(y, z)];
    uses = static_cast<std::uint8_t>(uses | static_cast<std::uint8_t>(use));
  }

  /// Says what is to be computed for a row, at this one and at those that it reads.
  void mark(int y, int z) {
    const bool uniform = is_uniform(y, z), is_edge = has_surface() && box_.z + z < first_edge_rows;
    if (uniform) add(row_use::uniform, y, z);
    material_.uniform_rows_ += uniform ? 1 : 0;
    for (int k = -halo; k <= halo; ++k) add(uniform ? row_use::side_slopes : row_use::side_mixed, y + k, z);
    const int first = is_edge ? 0 : z - halo, last = is_edge ? first_edge_points - 1 : z + halo;
    for (int plane = first; plane <= last; ++plane) {
      add(uniform ? row_use::plane_slopes : row_use::plane_mixed, y, plane);
    }
  }

  const problem& problem_;
  const patch_box& box_;
  patch_material& material_;
  int end_;
  std::vector<double> scratch_;
  double* next_ = nullptr;
  std::size_t slab_left_ = 0;
  std::unordered_map<std::string_view, const double*> known_;
  std::unordered_map<const double*, bool> constant_;
};

patch_material::patch_material(const problem& problem, const patch_box& box) { builder(problem, box, *this).run(); }

std::size_t patch_material::bytes() const noexcept {
  return doubles_ * sizeof(double) + rows_.size() * (sizeof(double*) + 1) + layered_.size();
}

}  // namespace waves
