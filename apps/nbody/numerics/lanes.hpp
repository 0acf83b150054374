// SPDX-License-Identifier: Apache-2.0
// Vectors of floats for the instruction set that a source is compiled for.
//
// Only kernels_*.cpp include this. Each is compiled for other instructions, so everything here has internal linkage,
// and nothing here calls an inline function of a library: the linker could take this copy for the whole program.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nbody {
namespace {

#if defined(__AVX512F__)
constexpr int lane_count = 16;
#else
constexpr int lane_count = 8;
#endif
using lanes = float __attribute__((vector_size(4 * lane_count)));
using lanes_of_group = float __attribute__((vector_size(32)));
using doubles_of_group = double __attribute__((vector_size(64)));

template <class Vector, class Number>
[[gnu::always_inline]] inline Vector load(const Number* source) {
  Vector value;
  __builtin_memcpy(&value, source, sizeof value);
  return value;
}
template <class Vector, class Number>
[[gnu::always_inline]] inline void store(Number* target, Vector value) {
  __builtin_memcpy(target, &value, sizeof value);
}
[[gnu::always_inline]] inline lanes spread(float value) { return lanes{} + value; }

/// 1 / sqrt(value), by the processor's estimate: 14 bits with AVX-512, 12 otherwise.
[[gnu::always_inline]] inline lanes root_estimate(lanes value) {
#if defined(__AVX512F__)
  return reinterpret_cast<lanes>(_mm512_rsqrt14_ps(reinterpret_cast<__m512>(value)));
#elif defined(__AVX2__)
  return reinterpret_cast<lanes>(_mm256_rsqrt_ps(reinterpret_cast<__m256>(value)));
#else
  lanes result;
  for (int k = 0; k < lane_count; ++k) result[k] = 1 / __builtin_sqrtf(value[k]);
  return result;
#endif
}

/// 1 / sqrt(value) with about 22 bits: the estimate, and one step of Newton.
[[gnu::always_inline]] inline lanes inverse_root(lanes value) {
#if defined(__AVX2__)
  const lanes y = root_estimate(value);
  return y * (1.5f - 0.5f * value * y * y);
#else
  return root_estimate(value);
#endif
}

/// The sum over the lanes, in one order.
[[gnu::always_inline]] inline float sum_of(lanes value) {
#if defined(__AVX512F__)
  const __m512 all = reinterpret_cast<__m512>(value);
  const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(all), 1));
  __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), upper);
#elif defined(__AVX2__)
  __m256 half = reinterpret_cast<__m256>(value);
#endif
#if defined(__AVX2__)
  __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  quarter = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
  return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_shuffle_ps(quarter, quarter, 1)));
#else
  float sum = 0;
  for (int k = 0; k < lane_count; ++k) sum += value[k];
  return sum;
#endif
}

/// Stores the lanes of `mask` side by side; writes eight floats all the same.
[[gnu::always_inline]] inline void store_chosen(float* target, lanes_of_group value, std::uint32_t mask) {
#if defined(__AVX512F__)
  const auto chosen = _mm256_maskz_compress_ps(static_cast<__mmask8>(mask), reinterpret_cast<__m256>(value));
  _mm256_storeu_ps(target, chosen);
#else
  int next = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) target[next++] = value[__builtin_ctz(left)];
#endif
}

/// A bit for each lane in which a < b.
[[gnu::always_inline]] inline std::uint32_t lanes_below(lanes_of_group a, lanes_of_group b) {
#if defined(__AVX512F__)
  return _mm256_cmp_ps_mask(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), _CMP_LT_OQ);
#elif defined(__AVX2__)
  return static_cast<std::uint32_t>(
      _mm256_movemask_ps(_mm256_cmp_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), _CMP_LT_OQ)));
#else
  std::uint32_t mask = 0;
  for (int k = 0; k < 8; ++k) mask |= static_cast<std::uint32_t>(a[k] < b[k]) << k;
  return mask;
#endif
}

[[gnu::always_inline]] inline lanes_of_group to_floats(doubles_of_group value) {
  return __builtin_convertvector(value, lanes_of_group);
}

}  // namespace
}  // namespace nbody
