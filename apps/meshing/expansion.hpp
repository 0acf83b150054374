// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic on sums of doubles that do not overlap (Shewchuk, Adaptive Precision Floating-Point Arithmetic).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#ifdef __FAST_MATH__
#error "exact arithmetic needs IEEE rounding: compile without -ffast-math"
#endif

namespace meshing {

/// The exact value of an operation on two doubles: the rounded result and the rounding error.
struct exact_pair {
  double high, low;
};

inline exact_pair two_sum(double a, double b) noexcept {
  const double x = a + b, b_part = x - a, a_part = x - b_part;
  return {x, (a - a_part) + (b - b_part)};
}

/// As two_sum, for |a| >= |b| or a = 0.
inline exact_pair fast_two_sum(double a, double b) noexcept {
  const double x = a + b;
  return {x, b - (x - a)};
}

/// The halves of a double, of 26 bits each (Dekker, Veltkamp). Exact for |a| < 2^996.
inline exact_pair split_bits(double a) noexcept {
  const double c = 134217729.0 * a;  // 2^27 + 1
  const double high = c - (c - a);
  return {high, a - high};
}

inline exact_pair two_product(double a, double b) noexcept {
  const double x = a * b;
  const auto [a_high, a_low] = split_bits(a);
  const auto [b_high, b_low] = split_bits(b);
  return {x, a_low * b_low - (((x - a_high * b_high) - a_low * b_high) - a_high * b_low)};
}

/// A sum of at most N doubles, by increasing magnitude, no two of which overlap and none of which is 0.
template <int N>
struct expansion {
  std::array<double, static_cast<std::size_t>(N)> term;  // only the first `size` are set
  int size = 0;

  void append(double value) noexcept {
    if (value != 0) term[static_cast<std::size_t>(size++)] = value;
  }
  double operator[](int k) const noexcept { return term[static_cast<std::size_t>(k)]; }
  /// Has the sign of the exact value, and differs from it by less than an ulp or so.
  double approximate() const noexcept { return size == 0 ? 0 : (*this)[size - 1]; }
};

inline expansion<2> to_expansion(exact_pair value) noexcept {
  expansion<2> e;
  e.append(value.low);
  e.append(value.high);
  return e;
}

inline expansion<2> exact_difference(double a, double b) noexcept { return to_expansion(two_sum(a, -b)); }

template <int N>
expansion<N> operator-(expansion<N> a) noexcept {
  for (int k = 0; k < a.size; ++k) a.term[static_cast<std::size_t>(k)] = -a[k];
  return a;
}

/// Fast expansion sum with elimination of zeros.
template <int N, int M>
expansion<N + M> operator+(const expansion<N>& a, const expansion<M>& b) noexcept {
  expansion<N + M> result;
  int i = 0, j = 0;
  const auto smallest = [&] {
    return j == b.size || (i < a.size && std::abs(a[i]) < std::abs(b[j])) ? a[i++] : b[j++];
  };
  const int total = a.size + b.size;
  if (total == 0) return result;
  double sum = smallest();
  for (int k = 1; k < total; ++k) {
    const auto [high, low] = two_sum(sum, smallest());
    result.append(low);
    sum = high;
  }
  result.append(sum);
  return result;
}

template <int N, int M>
expansion<N + M> operator-(const expansion<N>& a, const expansion<M>& b) noexcept {
  return a + -b;
}

/// Scales an expansion, with elimination of zeros.
template <int N>
expansion<2 * N> operator*(const expansion<N>& a, double b) noexcept {
  expansion<2 * N> result;
  if (a.size == 0 || b == 0) return result;
  auto [sum, low] = two_product(a[0], b);
  result.append(low);
  for (int k = 1; k < a.size; ++k) {
    const exact_pair product = two_product(a[k], b);
    const exact_pair lower = two_sum(sum, product.low);
    result.append(lower.low);
    const exact_pair upper = fast_two_sum(product.high, lower.high);
    result.append(upper.low);
    sum = upper.high;
  }
  result.append(sum);
  return result;
}

template <int N, int M>
expansion<2 * N * M> operator*(const expansion<N>& a, const expansion<M>& b) noexcept {
  expansion<2 * N * M> result;
  for (int k = 0; k < b.size; ++k) {
    const auto sum = result + a * b[k];
    result.size = sum.size;
    for (int i = 0; i < sum.size; ++i) result.term[static_cast<std::size_t>(i)] = sum[i];
  }
  return result;
}

}  // namespace meshing
