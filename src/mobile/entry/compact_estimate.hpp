// SPDX-License-Identifier: Apache-2.0
// A rough number in two bytes, for what is kept for each of millions of objects.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace nacre {

/// An estimate of at least 0, such as some seconds: the upper half of a float, right to one part in 256. Any thread,
/// relaxed: of two threads that add at the same time, one may be forgotten.
class compact_estimate {
 public:
  void store(double value) noexcept { bits_.store(rounded(value, 0x8000U), std::memory_order_relaxed); }
  [[nodiscard]] double load() const noexcept {
    return std::bit_cast<float>(std::uint32_t{bits_.load(std::memory_order_relaxed)} << 16);
  }
  /// Adds to it. A value too small for the precision is rounded up with a matching frequency, so that a sum of many
  /// small values is right. Pass a different `count` each time, such as the number of a message.
  void add(double value, std::uint32_t count) noexcept {
    bits_.store(rounded(load() + value, (count * 0x9E37U) & 0xFFFFU), std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] static std::uint16_t rounded(double value, std::uint32_t up) noexcept {
    return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(static_cast<float>(value)) + up) >> 16);
  }
  std::atomic<std::uint16_t> bits_{0};
};

}  // namespace nacre
