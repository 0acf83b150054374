// SPDX-License-Identifier: Apache-2.0
// The trees once more for tests: slow, byte by byte and recursive, sharing no code with what is tested.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sha1.hpp"
#include "traverse.hpp"
#include "tree_params.hpp"

namespace uts::reference {

using digest = std::array<std::uint8_t, 20>;

inline void append_be32(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

/// SHA-1 of any message, as FIPS 180-4 section 6.1 puts it.
inline digest sha1(std::vector<std::uint8_t> message) {
  const std::uint64_t bits = 8 * message.size();
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  append_be32(message, static_cast<std::uint32_t>(bits >> 32));
  append_be32(message, static_cast<std::uint32_t>(bits));
  const auto left = [](std::uint32_t x, int n) { return (x << n) | (x >> (32 - n)); };
  std::array<std::uint32_t, 5> h{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (std::size_t block = 0; block < message.size(); block += 64) {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t k = 0; k < 64; ++k) w[k / 4] = (w[k / 4] << 8) | message[block + k];
    for (std::size_t t = 16; t < 80; ++t) w[t] = left(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    auto [a, b, c, d, e] = h;
    for (std::size_t t = 0; t < 80; ++t) {
      std::uint32_t f = b ^ c ^ d;
      if (t < 20) f = (b & c) ^ (~b & d);
      if (t >= 40 && t < 60) f = (b & c) ^ (b & d) ^ (c & d);
      constexpr std::array<std::uint32_t, 4> k{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
      const std::uint32_t sum = left(a, 5) + f + e + k[t / 20] + w[t];
      e = d;
      d = c;
      c = left(b, 30);
      b = a;
      a = sum;
    }
    h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
  }
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : h) append_be32(bytes, word);
  digest result{};
  std::copy(bytes.begin(), bytes.end(), result.begin());
  return result;
}

inline digest root(std::uint32_t seed) {
  std::vector<std::uint8_t> message(16, 0);
  append_be32(message, seed);
  return sha1(message);
}

inline digest child(const digest& parent, std::uint32_t index) {
  std::vector<std::uint8_t> message(parent.begin(), parent.end());
  append_be32(message, index);
  return sha1(message);
}

inline std::string hex(const digest& d) {
  std::string text;
  for (const std::uint8_t byte : d) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned>(byte));
    text += two.data();
  }
  return text;
}

/// A state as the bytes it stands for.
inline digest bytes_of(const sha1_state& state) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint32_t word : state.words) append_be32(bytes, word);
  digest result{};
  std::copy(bytes.begin(), bytes.end(), result.begin());
  return result;
}

/// The mean of a geometric distribution at `depth`.
inline double mean(const tree_params& p, double depth) {
  const double d = p.depth;
  if (depth == 0) return p.branching;
  if (p.shape == tree_shape::linear) return p.branching * (1 - depth / d);
  if (p.shape == tree_shape::expdec) return p.branching * std::pow(depth, -std::log(p.branching) / std::log(d));
  if (p.shape == tree_shape::fixed) return depth < d ? p.branching : 0;
  return depth > 5 * d ? 0 : std::pow(p.branching, std::sin(2.0 * 3.141592653589793 * depth / d));
}

/// The number of children by the formulas of the benchmark.
inline std::uint32_t children(const tree_params& p, std::uint32_t depth, std::uint32_t draw) {
  const double u = draw / 2147483648.0;
  if (p.type == tree_type::balanced) return depth < p.depth ? static_cast<std::uint32_t>(p.branching) : 0;
  if (p.type == tree_type::binomial && depth == 0) return static_cast<std::uint32_t>(p.branching);
  const bool geometric = p.type == tree_type::geometric || (p.type == tree_type::hybrid && depth < p.f * p.depth);
  if (!geometric) return u < p.q ? std::min<std::uint32_t>(p.m, 100) : 0;
  const double b = mean(p, depth);
  if (b == 0) return 0;
  const int n = static_cast<int>(std::floor(std::log(1 - u) / std::log(1 - 1 / (1 + b))));
  return static_cast<std::uint32_t>(std::min(n, 100));
}

inline void count(const tree_params& p, const digest& state, std::uint32_t depth, tree_counts& counts) {
  std::uint32_t last_word = 0;
  for (std::size_t k = 16; k < 20; ++k) last_word = (last_word << 8) | state[k];
  const std::uint32_t n = children(p, depth, last_word & 0x7fffffff);
  ++counts.nodes;
  if (n == 0) ++counts.leaves;
  counts.depth = std::max(counts.depth, depth);
  for (std::uint32_t i = 0; i < n; ++i) count(p, child(state, i), depth + 1, counts);
}

/// The counts of a whole tree, which must be small and shallow: it recurses.
inline tree_counts count(const tree_params& p) {
  tree_counts counts;
  count(p, root(p.seed), 0, counts);
  return counts;
}

/// The hash implementations that this processor can run.
inline std::vector<sha1_kernel> kernels() {
  std::vector<sha1_kernel> all;
  for (const auto choice : {sha1_choice::portable, sha1_choice::shani, sha1_choice::avx2, sha1_choice::avx512}) {
    if (sha1_available(choice)) all.push_back(select_sha1(choice));
  }
  return all;
}

}  // namespace uts::reference
