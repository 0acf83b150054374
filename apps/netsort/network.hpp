// SPDX-License-Identifier: Apache-2.0
// The bitonic sorting network, as pure arithmetic: which two wires meet in which step.
#pragma once

#include <bit>
#include <cstdint>

namespace netsort {

/// What one wire does in one step.
struct comparator {
  std::uint32_t distance;  ///< its partner's number is its own with this one bit changed
  bool keeps_low;          ///< of both wires' keys it keeps the smaller ones
};

/// A network of 2^k wires has k stages; stage s, from 1, has s steps, and every wire meets another one in each
/// (Batcher, 1968). Clam section 4.1 calls the comparisons of one step those that can be done at the same time.
class network {
 public:
  /// `wires` is a power of two, at least 2.
  explicit network(std::uint32_t wires) noexcept : bits_(static_cast<std::uint32_t>(std::countr_zero(wires))) {}

  [[nodiscard]] std::uint32_t bits() const noexcept { return bits_; }
  [[nodiscard]] std::uint32_t steps() const noexcept { return bits_ * (bits_ + 1) / 2; }

  /// `step` is less than steps().
  [[nodiscard]] comparator at(std::uint32_t wire, std::uint32_t step) const noexcept {
    std::uint32_t stage = 1;
    while (step >= stage) step -= stage++;
    const std::uint32_t distance = 1u << (stage - 1 - step);
    const bool ascending = (wire >> stage & 1u) == 0;
    return {distance, ascending == ((wire & distance) == 0)};
  }

 private:
  std::uint32_t bits_;
};

}  // namespace netsort
