// SPDX-License-Identifier: Apache-2.0
// A small, fast, reproducible source of random numbers with independent streams.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace nacre {

/// xoshiro256** (Blackman and Vigna, 2018), seeded through splitmix64. One seed gives one sequence of numbers on every
/// machine. It serves the distributions of <random> too, whose results may differ between standard libraries. Not for
/// secrets. Not thread-safe: each thread, rank or purpose forks its own stream.
class rng {
 public:
  explicit constexpr rng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix(seed);
  }

  using result_type = std::uint64_t;
  [[nodiscard]] static constexpr std::uint64_t min() noexcept { return 0; }
  [[nodiscard]] static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }
  constexpr std::uint64_t operator()() noexcept { return next(); }

  /// The next 64 random bits.
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in 0 .. bound - 1 without bias (Lemire, 2019). Returns 0 when `bound` is 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    wide product = static_cast<wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<wide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Returns a generator for another purpose. It depends only on the state of this one, which does not advance, and on
  /// `stream`.
  [[nodiscard]] constexpr rng fork(std::uint64_t stream) const noexcept {
    std::uint64_t seed = stream;
    for (const std::uint64_t word : state_) seed = word ^ splitmix(seed);
    return rng(splitmix(seed));
  }

 private:
  __extension__ using wide = unsigned __int128;

  static constexpr std::uint64_t splitmix(std::uint64_t& state) noexcept {
    std::uint64_t word = (state += 0x9e3779b97f4a7c15U);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace nacre
