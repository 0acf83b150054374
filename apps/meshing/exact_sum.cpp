// SPDX-License-Identifier: Apache-2.0
// The long accumulator.
#include "meshing/exact_sum.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "meshing/expansion.hpp"

namespace meshing {
namespace {
__extension__ using wide_int = __int128;
}

void exact_sum::add(double value) noexcept {
  if (value == 0) return;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));  // exact: value = mantissa 2^(exponent-53)
  const int bit = exponent - 53 - lowest_bit;
  const auto word = static_cast<std::size_t>(bit / 32);
  const int shift = bit % 32;
  const wide_int wide = static_cast<wide_int>(mantissa) * (std::int64_t{1} << shift);
  const auto low_mask = (wide_int{1} << 32) - 1;
  words_[word] += static_cast<std::int64_t>(wide & low_mask);
  words_[word + 1] += static_cast<std::int64_t>((wide >> 32) & low_mask);
  words_[word + 2] += static_cast<std::int64_t>(wide >> 64);
  if (++pending_ == 1u << 30) carry();
}

void exact_sum::add_product(double a, double b) noexcept {
  const auto [high, low] = two_product(a, b);
  add(high);
  add(low);
}

void exact_sum::carry() noexcept {
  for (std::size_t k = 0; k + 1 < word_count; ++k) {
    const std::int64_t excess = words_[k] >> 32;  // rounds down, so the word stays from 0 to 2^32 - 1
    words_[k] -= excess * (std::int64_t{1} << 32);
    words_[k + 1] += excess;
  }
  pending_ = 0;
}

void exact_sum::add(const exact_sum& other) noexcept {
  exact_sum normal = other;
  normal.carry();
  carry();
  for (std::size_t k = 0; k < word_count; ++k) words_[k] += normal.words_[k];
  carry();
}

double exact_sum::value() const noexcept {
  exact_sum normal = *this;
  normal.carry();
  // The words below the highest are positive, so a negative value is summed by its words, which cancel exactly in the
  // first two steps or leave a rounding error far below that of the result.
  double sum = 0;
  for (std::size_t k = word_count; k-- > 0;) {
    sum += std::ldexp(static_cast<double>(normal.words_[k]), lowest_bit + 32 * static_cast<int>(k));
  }
  return sum;
}

bool exact_sum::equals(const exact_sum& other) const noexcept {
  exact_sum a = *this, b = other;
  a.carry();
  b.carry();
  return a.words_ == b.words_;
}

}  // namespace meshing
