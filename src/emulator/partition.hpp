// SPDX-License-Identifier: Apache-2.0
// The division of a grid into blocks of neighbouring nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/emulated_machine.hpp>

namespace nacre::emulator {

/// A node by its block and its number within the block.
struct node_place {
  std::uint32_t block = 0;
  std::uint32_t node = 0;
};

/// The nodes of one block: a box of the grid. They are numbered along x first, then y, then z.
struct brick {
  coordinates begin, extent;
  [[nodiscard]] std::uint32_t nodes() const noexcept {
    return static_cast<std::uint32_t>(extent.x * extent.y * extent.z);
  }
  [[nodiscard]] coordinates at(std::uint32_t node) const noexcept {
    const auto x = static_cast<std::uint32_t>(extent.x);
    const auto y = static_cast<std::uint32_t>(extent.y);
    const std::uint32_t row = node / x;
    return {begin.x + static_cast<std::int32_t>(node - row * x), begin.y + static_cast<std::int32_t>(row % y),
            begin.z + static_cast<std::int32_t>(row / y)};
  }
};

/// Divides a grid into bricks as equal and as near to cubes as their number allows (paper section 5.1: neighbours talk
/// most). All blocks of an emulation compute the same partition from the same numbers.
class partition {
 public:
  partition() = default;
  /// Into `blocks` bricks. If that number cannot be split along the axes, into the largest smaller number that can.
  partition(const coordinates& grid, std::uint32_t blocks);

  [[nodiscard]] std::uint32_t blocks() const noexcept { return parts_[0] * parts_[1] * parts_[2]; }
  [[nodiscard]] brick brick_of(std::uint32_t block) const noexcept;
  [[nodiscard]] node_place place_of(const coordinates& place) const noexcept {
    const cut& x = cuts_[0][static_cast<std::size_t>(place.x)];
    const cut& y = cuts_[1][static_cast<std::size_t>(place.y)];
    const cut& z = cuts_[2][static_cast<std::size_t>(place.z)];
    return {x.part + parts_[0] * (y.part + parts_[1] * z.part), x.offset + x.extent * (y.offset + y.extent * z.offset)};
  }
  /// The number of a node in the whole grid.
  [[nodiscard]] std::uint32_t number_of(const coordinates& place) const noexcept {
    return static_cast<std::uint32_t>(place.x + grid_.x * (place.y + grid_.y * place.z));
  }
  /// The node of this number.
  [[nodiscard]] coordinates at(std::uint32_t number) const noexcept {
    const auto x = static_cast<std::uint32_t>(grid_.x), y = static_cast<std::uint32_t>(grid_.y);
    return {number % x, number / x % y, number / x / y};
  }
  [[nodiscard]] bool contains(const coordinates& place) const noexcept {
    return static_cast<std::uint32_t>(place.x) < static_cast<std::uint32_t>(grid_.x) &&
           static_cast<std::uint32_t>(place.y) < static_cast<std::uint32_t>(grid_.y) &&
           static_cast<std::uint32_t>(place.z) < static_cast<std::uint32_t>(grid_.z);
  }

 private:
  /// One place along one axis: its part, its offset there, and the extent of that part.
  struct cut {
    std::uint32_t part, offset, extent;
  };
  [[nodiscard]] std::uint32_t begin_of(std::size_t axis, std::uint32_t part) const noexcept;

  coordinates grid_;
  std::array<std::uint32_t, 3> parts_{1, 1, 1};
  std::vector<cut> cuts_[3];
};

}  // namespace nacre::emulator
