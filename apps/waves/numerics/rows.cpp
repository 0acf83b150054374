// SPDX-License-Identifier: Apache-2.0
// Allocates rows.
#include "rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace waves {

void free_memory::operator()(double* memory) const noexcept { std::free(memory); }

std::unique_ptr<double[], free_memory> aligned_zeros(std::size_t count) {
  constexpr std::size_t alignment = 64;
  const std::size_t bytes = (count * sizeof(double) + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<double*>(std::aligned_alloc(alignment, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory, bytes / sizeof(double), 0.0);
  return std::unique_ptr<double[], free_memory>(memory);
}

rows::rows(const patch_box& box, int components) : components_(components) {
  steps_.component = row_length(box.nx);
  steps_.row = steps_.component * components;
  steps_.plane = steps_.row * (box.ny + 2 * halo);
  origin_ = lanes_max + halo * (steps_.row + steps_.plane);
  size_ = static_cast<std::size_t>(steps_.plane * (box.nz + 2 * halo) + 2 * lanes_max);
  memory_ = aligned_zeros(size_);
}

}  // namespace waves
