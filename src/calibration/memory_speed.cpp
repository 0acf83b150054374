// SPDX-License-Identifier: Apache-2.0
// Copies between two blocks, there and back.
#include "calibration/memory_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace nacre::calibration {

double copy_bytes_per_second(std::size_t bytes) {
  constexpr int runs = 9;
  constexpr std::size_t bytes_of_run = std::size_t{64} << 20;
  const std::size_t copies = std::max<std::size_t>(1, bytes_of_run / bytes);
  std::vector<std::byte> one(bytes, std::byte{1}), other(bytes, std::byte{2});
  double best = 1e300;
  for (int run = 0; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t copy = 0; copy < copies; ++copy) {
      std::memcpy((copy % 2 == 0 ? other : one).data(), (copy % 2 == 0 ? one : other).data(), bytes);
      asm volatile("" : : "r"(one.data()), "r"(other.data()) : "memory");  // keeps the compiler from leaving a copy out
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<double>(bytes) * static_cast<double>(copies) / best;
}

}  // namespace nacre::calibration
