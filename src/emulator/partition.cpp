// SPDX-License-Identifier: Apache-2.0
// Cuts the longest side of the bricks again and again.
#include "emulator/partition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nacre::emulator {

namespace {

std::array<std::uint32_t, 3> extents_of(const coordinates& grid) {
  return {static_cast<std::uint32_t>(grid.x), static_cast<std::uint32_t>(grid.y), static_cast<std::uint32_t>(grid.z)};
}

/// The prime factors, the largest first: small factors are left to even out the sides.
std::vector<std::uint32_t> prime_factors(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t p = 2; p * p <= number; ++p) {
    for (; number % p == 0; number /= p) factors.insert(factors.begin(), p);
  }
  if (number > 1) factors.insert(factors.begin(), number);
  return factors;
}

using three = std::array<std::uint32_t, 3>;

/// The number of parts along each axis for so many blocks; nothing if a prime factor fits along no axis.
std::optional<three> parts_for(const three& extents, std::uint32_t blocks) {
  three parts{1, 1, 1};
  for (const std::uint32_t factor : prime_factors(blocks)) {
    std::size_t longest = 2;  // cuts across z keep the rows of the grid whole
    for (const std::size_t axis : {std::size_t{1}, std::size_t{0}}) {
      if (std::uint64_t{extents[axis]} * parts[longest] > std::uint64_t{extents[longest]} * parts[axis]) longest = axis;
    }
    if (parts[longest] * factor > extents[longest]) return std::nullopt;
    parts[longest] *= factor;
  }
  return parts;
}

}  // namespace

partition::partition(const coordinates& grid, std::uint32_t blocks) : grid_(grid) {
  const auto extents = extents_of(grid);
  const std::uint64_t nodes = std::uint64_t{extents[0]} * extents[1] * extents[2];
  auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, std::max<std::uint64_t>(nodes, 1)));
  std::optional<three> split;
  for (; !(split = parts_for(extents, count)); --count) continue;
  parts_ = *split;
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
