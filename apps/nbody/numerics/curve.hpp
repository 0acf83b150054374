// SPDX-License-Identifier: Apache-2.0
// Morton's curve through a cube: keys of places, cells as ranges of keys, sorting.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "body.hpp"

namespace nbody {

using curve_key = std::uint64_t;
inline constexpr int levels_max = 21;  ///< bits of a key for each dimension

/// The cube that holds all bodies, and the unit of length in which the tree is computed: a power of two of its size,
/// near to the size of a branch, so that single-precision powers of lengths neither overflow nor vanish.
struct frame {
  vector3 origin{};
  double size = 1;
  double unit = 1;

  [[nodiscard]] curve_key key_of(const vector3& place) const noexcept;
  /// The middle of the smallest cell with this key.
  [[nodiscard]] vector3 place_of(curve_key key) const noexcept;
  friend bool operator==(const frame&, const frame&) = default;
};

/// The cube around a box, with a little room on each side.
[[nodiscard]] frame frame_around(const vector3& low, const vector3& high);

/// The frame for a box when the last one was `last`: the same, if the box is inside; else `last` doubled until it holds
/// the box, so that cells stay where they are and the curve passes them in the same order. A new one, if `last` is far
/// too large.
[[nodiscard]] frame frame_after(const frame& last, const vector3& low, const vector3& high);

/// A cell of the octree: all keys with the same first 3 * level bits.
struct curve_cell {
  curve_key first = 0;
  std::uint32_t level = 0;

  [[nodiscard]] curve_key end() const noexcept { return first + (curve_key{1} << 3 * (levels_max - level)); }
  [[nodiscard]] curve_cell child(std::uint32_t octant) const noexcept {
    return {first + (curve_key{octant} << 3 * (levels_max - level - 1)), level + 1};
  }
  /// Which child of its parent of level `level` the key belongs to.
  [[nodiscard]] static std::uint32_t octant_of(curve_key key, std::uint32_t level) noexcept {
    return static_cast<std::uint32_t>(key >> 3 * (levels_max - level - 1) & 7);
  }
  friend bool operator==(const curve_cell&, const curve_cell&) = default;
};

/// Sorts bodies by key, those of one key by number, and returns the keys in that order.
[[nodiscard]] std::vector<curve_key> sort_along_curve(std::vector<body>& bodies, const frame& frame);

}  // namespace nbody
