// SPDX-License-Identifier: Apache-2.0
// SHA-1 of four or eight children at a time in the lanes of generic vectors.

#include <cstdint>
#include <span>

#include "sha1.hpp"
#include "sha1_lanes.hpp"

namespace uts {
namespace {

using four_lanes = std::uint32_t __attribute__((vector_size(16)));
using eight_lanes = std::uint32_t __attribute__((vector_size(32)));

}  // namespace

void hash_children_portable(const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out) {
  hash_in_lanes<four_lanes>(parents, jobs, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]]
#endif
void hash_children_avx2(const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out) {
  hash_in_lanes<eight_lanes>(parents, jobs, out);
}

}  // namespace uts
