// SPDX-License-Identifier: Apache-2.0
// SHA-1's compression of one block, written once for a word and for a vector of words (one block in each lane).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sha1.hpp"

namespace uts {

template <class Word>
[[gnu::always_inline]] inline Word rotated_left(Word word, int bits) {
  return (word << bits) | (word >> (32 - bits));
}

/// The five working variables of the compression.
template <class Word>
struct sha1_variables {
  Word a, b, c, d, e;
};

/// The next word of the message schedule, which keeps the last 16 words in `w`; `round` counts from 0 to 79.
template <class Word>
[[gnu::always_inline]] inline Word scheduled(Word (&w)[16], int round) {
  if (round < 16) return w[round];
  const Word mixed = w[(round + 13) % 16] ^ w[(round + 8) % 16] ^ w[(round + 2) % 16] ^ w[round % 16];
  return w[round % 16] = rotated_left<Word>(mixed, 1);
}

template <class Word>
[[gnu::always_inline]] inline void sha1_round(sha1_variables<Word>& v, Word chosen, std::uint32_t constant, Word w) {
  const Word sum = rotated_left<Word>(v.a, 5) + chosen + v.e + constant + w;
  v = {sum, v.a, rotated_left<Word>(v.b, 30), v.c, v.d};
}

/// Compresses the block `w` from SHA-1's initial value and returns the digest. Overwrites `w`.
/// `Word` is std::uint32_t or a vector of them. Always inlined, so that it is compiled for the target of its caller.
template <class Word>
[[gnu::always_inline]] inline sha1_variables<Word> sha1_compress(Word (&w)[16]) {
  const Word zero{};
  const sha1_variables<Word> start{zero + 0x67452301u, zero + 0xefcdab89u, zero + 0x98badcfeu, zero + 0x10325476u,
                                   zero + 0xc3d2e1f0u};
  sha1_variables<Word> v = start;
#pragma GCC unroll 20
  for (int t = 0; t < 20; ++t) sha1_round<Word>(v, v.d ^ (v.b & (v.c ^ v.d)), 0x5a827999u, scheduled(w, t));
#pragma GCC unroll 20
  for (int t = 20; t < 40; ++t) sha1_round<Word>(v, v.b ^ v.c ^ v.d, 0x6ed9eba1u, scheduled(w, t));
#pragma GCC unroll 20
  for (int t = 40; t < 60; ++t) sha1_round<Word>(v, (v.b & v.c) | (v.d & (v.b | v.c)), 0x8f1bbcdcu, scheduled(w, t));
#pragma GCC unroll 20
  for (int t = 60; t < 80; ++t) sha1_round<Word>(v, v.b ^ v.c ^ v.d, 0xca62c1d6u, scheduled(w, t));
  return {v.a + start.a, v.b + start.b, v.c + start.c, v.d + start.d, v.e + start.e};
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 14 overlooks how `w` begins
#endif
/// Hashes all jobs, one in each lane of a vector of words; lanes that the last group has no job for repeat its last
/// one. Always inlined, as sha1_compress.
template <class Lanes>
[[gnu::always_inline]] inline void hash_in_lanes(const sha1_state* parents, std::span<const child_ref> jobs,
                                                 sha1_state* out) {
  constexpr std::size_t lane_count = sizeof(Lanes) / sizeof(std::uint32_t);
  for (std::size_t first = 0; first < jobs.size(); first += lane_count) {
    const std::size_t count = std::min(lane_count, jobs.size() - first);
    Lanes w[16] = {};
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const child_ref job = jobs[first + std::min(lane, count - 1)];
      const auto& words = parents[job.parent].words;
#pragma GCC unroll 5
      for (std::size_t k = 0; k < 5; ++k) w[k][lane] = words[k];
      w[5][lane] = job.child;
    }
    w[6] = Lanes{} + 0x80000000u;
    w[15] = Lanes{} + 192u;
    const sha1_variables<Lanes> digest = sha1_compress(w);
    for (std::size_t lane = 0; lane < count; ++lane) {
      out[first + lane] = sha1_state{{digest.a[lane], digest.b[lane], digest.c[lane], digest.d[lane], digest.e[lane]}};
    }
  }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace uts
