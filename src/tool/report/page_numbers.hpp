// SPDX-License-Identifier: Apache-2.0
// Numbers in the data of a page, and the choice of the longest spans.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace nacre::tool {

/// Appends a number with 7 bits a byte, the lowest first; bit 7 says that more bytes follow.
inline void put_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

/// Counts lengths by class on a logarithmic scale, with four classes for each power of two.
class length_counts {
 public:
  [[nodiscard]] static std::size_t class_of(std::int64_t ns) {
    const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 1));
    const auto power = static_cast<std::size_t>(std::bit_width(length) - 1);
    const auto quarter = power < 2 ? 0 : static_cast<std::size_t>(length >> (power - 2)) & 3;
    return 4 * power + quarter;
  }
  /// The least length of a class, in nanoseconds.
  [[nodiscard]] static double least_ns(std::size_t length_class) {
    const double quarters = 1.0 + static_cast<double>(length_class % 4) / 4;
    return length_class == 0 ? 0 : std::ldexp(quarters, static_cast<int>(length_class / 4));
  }
  void add(std::int64_t ns) { ++counts_[class_of(ns)]; }
  /// The least class such that it and all longer ones have at most `count_max` lengths.
  [[nodiscard]] std::size_t least_class(std::size_t count_max) const {
    std::size_t least = counts_.size(), kept = 0;
    while (least > 0 && kept + counts_[least - 1] <= count_max) kept += counts_[--least];
    return least;
  }

 private:
  std::array<std::size_t, 256> counts_{};
};

}  // namespace nacre::tool
