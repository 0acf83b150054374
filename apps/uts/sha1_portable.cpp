// SPDX-License-Identifier: Apache-2.0
// SHA-1 of four children at a time in the lanes of a generic vector.
#include <algorithm>
#include <cstddef>

#include "sha1.hpp"
#include "sha1_lanes.hpp"

namespace uts {
namespace {

constexpr std::size_t lane_count = 4;
using lanes = std::uint32_t __attribute__((vector_size(4 * lane_count)));

/// Hashes `count` <= lane_count jobs; the lanes without a job repeat the last one.
void hash_group(const sha1_state* parents, const child_ref* jobs, std::size_t count, sha1_state* out) {
  child_ref job[lane_count];
  for (std::size_t lane = 0; lane < lane_count; ++lane) job[lane] = jobs[std::min(lane, count - 1)];
  const auto& p0 = parents[job[0].parent].words;
  const auto& p1 = parents[job[1].parent].words;
  const auto& p2 = parents[job[2].parent].words;
  const auto& p3 = parents[job[3].parent].words;
  lanes w[16] = {};
#pragma GCC unroll 5
  for (std::size_t k = 0; k < 5; ++k) w[k] = lanes{p0[k], p1[k], p2[k], p3[k]};
  w[5] = lanes{job[0].child, job[1].child, job[2].child, job[3].child};
  w[6] = lanes{} + 0x80000000u;
  w[15] = lanes{} + 192u;
  const sha1_variables<lanes> digest = sha1_compress(w);
  for (std::size_t lane = 0; lane < count; ++lane) {
    out[lane] = {{digest.a[lane], digest.b[lane], digest.c[lane], digest.d[lane], digest.e[lane]}};
  }
}

}  // namespace

void hash_children_portable(const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out) {
  for (std::size_t k = 0; k < jobs.size(); k += lane_count) {
    hash_group(parents, jobs.data() + k, std::min(lane_count, jobs.size() - k), out + k);
  }
}

}  // namespace uts
