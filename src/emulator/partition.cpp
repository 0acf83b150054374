// SPDX-License-Identifier: Apache-2.0
// Cuts the longest side of the bricks again and again.
#include "emulator/partition.hpp"

#include <array>
#include <cstddef>

namespace nacre::emulator {

namespace {

std::array<std::uint32_t, 3> extents_of(const coordinates& grid) {
  return {static_cast<std::uint32_t>(grid.x), static_cast<std::uint32_t>(grid.y), static_cast<std::uint32_t>(grid.z)};
}

/// The largest prime factors first, so that the last cuts are the finest.
std::vector<std::uint32_t> prime_factors(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t p = 2; p * p <= number; ++p) {
    for (; number % p == 0; number /= p) factors.insert(factors.begin(), p);
  }
  if (number > 1) factors.insert(factors.begin(), number);
  return factors;
}

}  // namespace

partition::partition(const coordinates& grid, std::uint32_t blocks) : grid_(grid) {
  const auto extents = extents_of(grid);
  for (const std::uint32_t factor : prime_factors(blocks < 1 ? 1 : blocks)) {
    std::size_t longest = 2;  // cuts across z keep the rows of the grid whole
    for (const std::size_t axis : {std::size_t{1}, std::size_t{0}}) {
      if (std::uint64_t{extents[axis]} * parts_[longest] > std::uint64_t{extents[longest]} * parts_[axis])
        longest = axis;
    }
    if (parts_[longest] * factor <= extents[longest]) parts_[longest] *= factor;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::uint32_t part = 0; part < parts_[axis]; ++part) {
      const std::uint32_t extent = begin_of(axis, part + 1) - begin_of(axis, part);
      for (std::uint32_t offset = 0; offset < extent; ++offset) cuts_[axis].push_back({part, offset, extent});
    }
  }
}

std::uint32_t partition::begin_of(std::size_t axis, std::uint32_t part) const noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{extents_of(grid_)[axis]} * part / parts_[axis]);
}

brick partition::brick_of(std::uint32_t block) const noexcept {
  std::array<std::uint32_t, 3> begin{};
  std::array<std::uint32_t, 3> extent{};
  for (std::size_t axis = 0; axis < 3; block /= parts_[axis], ++axis) {
    const std::uint32_t part = block % parts_[axis];
    begin[axis] = begin_of(axis, part);
    extent[axis] = begin_of(axis, part + 1) - begin[axis];
  }
  return {{begin[0], begin[1], begin[2]}, {extent[0], extent[1], extent[2]}};
}

}  // namespace nacre::emulator
