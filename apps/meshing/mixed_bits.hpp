// SPDX-License-Identifier: Apache-2.0
// Bits that look random, the same on every machine.
#pragma once

#include <cstdint>

namespace meshing {

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t a) noexcept {
  a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9u;
  a = (a ^ a >> 27) * 0x94d049bb133111ebu;
  return a ^ a >> 31;
}

}  // namespace meshing
