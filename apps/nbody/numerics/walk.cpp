// SPDX-License-Identifier: Apache-2.0
// Memory of walks, and the choice of kernels.
#include "walk.hpp"

#include <algorithm>

namespace nbody {

const kernel_set& avx512_kernels();
const kernel_set& avx2_kernels();
const kernel_set& portable_kernels();

namespace {

constexpr std::size_t lanes_max = 16;

}  // namespace

walk_counts& walk_counts::operator+=(const walk_counts& other) noexcept {
  tests += other.tests;
  cell_cell += other.cell_cell;
  cell_body += other.cell_body;
  body_body += other.body_body;
  sources += other.sources;
  return *this;
}

walk_memory::walk_memory() : entries_(4096), cells_(2 * cell_floats), near_(4 * (near_bodies + lanes_max)) {
  entries = entries_.data(), entries_capacity = entries_.size();
  cells = cells_.data(), cells_for_bodies = cells + cell_floats;
  for (std::size_t k = 0; k < 4; ++k) near[k] = near_.data() + k * (near_bodies + lanes_max);
}

void walk_memory::prepare(std::size_t bodies, std::size_t leaf_bodies) {
  const std::size_t room = leaf_bodies + lanes_max;
  if (targets_.size() < 7 * room) targets_.resize(7 * room);
  for (std::size_t k = 0; k < 7; ++k) targets[k] = targets_.data() + k * room;
  if (index_.size() < room) index_.resize(room);
  target_index = index_.data();
  results_.assign(4 * bodies, 0);
  for (std::size_t k = 0; k < 4; ++k) results[k] = results_.data() + k * bodies;
}

void walk_memory::grow_entries() {
  entries_.resize(2 * entries_.size());
  entries = entries_.data(), entries_capacity = entries_.size();
}

std::size_t group_bytes(int order) {
  switch (order) {
    case 3:
      return sizeof(group<3>);
    case 4:
      return sizeof(group<4>);
    case 5:
      return sizeof(group<5>);
    default:
      return sizeof(group<6>);
  }
}

const kernel_set& best_kernels() {
#if defined(__x86_64__)
  const bool has_vectors = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                           __builtin_cpu_supports("avx512vl") != 0;
  if (has_vectors) return avx512_kernels();
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return avx2_kernels();
#endif
  return portable_kernels();
}

}  // namespace nbody
