// SPDX-License-Identifier: Apache-2.0
// SHA-1 of sixteen children at a time in the lanes of AVX-512.
#include "sha1.hpp"

#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "sha1_lanes.hpp"

namespace uts {
namespace {

constexpr std::size_t lane_count = 16;
using lanes = std::uint32_t __attribute__((vector_size(4 * lane_count)));

/// Where each word of sixteen digests that lie one behind the other is in five vectors that hold a word of each.
struct result_order {
  alignas(64) std::int32_t source[5][lane_count];
  constexpr result_order() : source() {
    for (std::int32_t place = 0; place < 80; ++place) source[place / 16][place % 16] = place % 5 * 16 + place / 5;
  }
};

/// The first `count` lanes of sixteen; none for a count below 0.
constexpr __mmask16 first_lanes(std::ptrdiff_t count) {
  return static_cast<__mmask16>((1u << std::clamp<std::ptrdiff_t>(count, 0, lane_count)) - 1);
}

/// Fetches and stores by lanes as well, which saves a fifth of what the loops of hash_in_lanes take.
[[gnu::target("avx512f,avx512dq"), gnu::always_inline]] inline void hash_group(const sha1_state* parents,
                                                                               const child_ref* jobs,
                                                                               std::ptrdiff_t count, sha1_state* out) {
  static constexpr result_order order;
  const __m512i zero = _mm512_setzero_si512();
  const __m512i evens = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
  const __m512i some = _mm512_maskz_loadu_epi32(first_lanes(2 * count), jobs);
  const __m512i more = _mm512_maskz_loadu_epi32(first_lanes(2 * count - 16), jobs + 8);
  const __m512i parent = _mm512_mullo_epi32(_mm512_permutex2var_epi32(some, evens, more), _mm512_set1_epi32(5));
  lanes w[16] = {};
  for (int k = 0; k < 5; ++k) {
    w[k] = reinterpret_cast<lanes>(
        _mm512_mask_i32gather_epi32(zero, first_lanes(count), parent, &parents[0].words[0] + k, 4));
  }
  w[5] = reinterpret_cast<lanes>(_mm512_permutex2var_epi32(some, odds, more));
  w[6] = lanes{} + 0x80000000u;
  w[15] = lanes{} + 192u;
  const sha1_variables<lanes> digest = sha1_compress(w);
  const lanes words[5] = {digest.a, digest.b, digest.c, digest.d, digest.e};
  for (std::ptrdiff_t k = 0; k < 5; ++k) {
    const __mmask16 kept = first_lanes(5 * count - 16 * k);
    const __m512i part = _mm512_mask_i32gather_epi32(zero, kept, _mm512_load_si512(order.source[k]), words, 4);
    _mm512_mask_storeu_epi32(&out[0].words[0] + 16 * k, kept, part);
  }
}

}  // namespace

[[gnu::target("avx512f,avx512dq")]] void hash_children_avx512(const sha1_state* parents,
                                                              std::span<const child_ref> jobs, sha1_state* out) {
  for (std::size_t first = 0; first < jobs.size(); first += lane_count) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(lane_count, jobs.size() - first));
    hash_group(parents, jobs.data() + first, count, out + first);
  }
}

}  // namespace uts

#else

namespace uts {

void hash_children_avx512(const sha1_state* parents, std::span<const child_ref> jobs, sha1_state* out) {
  hash_children_portable(parents, jobs, out);
}

}  // namespace uts

#endif
