// SPDX-License-Identifier: Apache-2.0
// Homes for the cells of quadtrees and octrees that keep neighbours together.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nacre/ids.hpp>

namespace nacre {

namespace detail {

template <unsigned Dimensions>
class corner_bits {  // one bit for each dimension, which rotate
 public:
  [[nodiscard]] static constexpr unsigned rotated_left(unsigned bits, unsigned count) noexcept {
    count %= Dimensions;
    return (bits << count | bits >> (Dimensions - count)) & ((1U << Dimensions) - 1);
  }
  [[nodiscard]] static constexpr unsigned rotated_right(unsigned bits, unsigned count) noexcept {
    return rotated_left(bits, Dimensions - count % Dimensions);
  }
};

/// The number of a cell along Hilbert's curve through the 2^depth cells of each dimension. Consecutive cells share a
/// side, and the cells within a cell of a smaller depth are consecutive: its number is the front part of theirs. After
/// C. Hamilton, A. Rau-Chaplin, "Compact Hilbert indices" (Dalhousie University, CS-2006-07): in each cell the curve
/// enters at a corner `entry` and runs along the dimension `direction`.
template <unsigned Dimensions>
[[nodiscard]] constexpr std::uint64_t hilbert_number(const std::array<std::uint64_t, Dimensions>& place,
                                                     unsigned depth) noexcept {
  using bits = corner_bits<Dimensions>;
  std::uint64_t number = 0;
  unsigned entry = 0, direction = 0;
  for (unsigned level = depth; level-- != 0;) {
    unsigned corner = 0;
    for (unsigned each = 0; each < Dimensions; ++each)
      corner |= static_cast<unsigned>(place[each] >> level & 1U) << each;
    unsigned part = bits::rotated_right(corner ^ entry, direction + 1);  // as a Gray code, which is then decoded
    for (unsigned shift = 1; shift < Dimensions; shift <<= 1U) part ^= part >> shift;
    number = number << Dimensions | part;
    const unsigned even = part == 0 ? 0 : (part - 1) & ~1U;  // its Gray code is the entry of this part
    entry ^= bits::rotated_left(even ^ even >> 1U, direction + 1);
    const unsigned turn = part == 0 ? 0 : static_cast<unsigned>(std::countr_one(part % 2 == 0 ? part - 1 : part));
    direction = (direction + turn + 1) % Dimensions;
  }
  return number;
}

}  // namespace detail

/// A key with the level and the coordinates of a cell in a quadtree or, with `z`, an octree: numbers from 0 to 2^level
/// - 1; the root has level 0.
template <class K>
concept tree_cell = requires(const K& key) {
  requires std::integral<std::remove_cvref_t<decltype(key.level)>>;
  requires std::integral<std::remove_cvref_t<decltype(key.x)>> && std::integral<std::remove_cvref_t<decltype(key.y)>>;
};

/// Homes for the cells of a quadtree or an octree: each rank gets a connected part of the domain, of equal area or
/// volume, as long as balancers move nothing. Cells of one parent have one home, which is that of their parent in most
/// cases, so birth, end and most messages between neighbours stay on a rank. The parts lie one behind the other along
/// Hilbert's curve. Where cells are much denser in some parts than in others, a balancer evens that out.
///
///     auto tree = rt.create_array<block>(nacre::keyed_by<cell>{.home = nacre::by_curve{}}, nacre::sparse);
struct by_curve {
  template <tree_cell K>
  [[nodiscard]] constexpr rank_id operator()(const K& key, std::uint32_t ranks) const noexcept {
    const auto number = [](auto subject) { return static_cast<std::int64_t>(subject); };
    if constexpr (requires { number(key.z); }) {
      return home_of(number(key.level), std::array{number(key.x), number(key.y), number(key.z)}, ranks);
    } else {
      return home_of(number(key.level), std::array{number(key.x), number(key.y)}, ranks);
    }
  }
  /// For keys of another form. Coordinates outside of the domain count as in a periodic one.
  template <std::size_t Dimensions>
  requires(Dimensions == 2 || Dimensions == 3) [[nodiscard]] static constexpr rank_id
      home_of(std::int64_t level, const std::array<std::int64_t, Dimensions>& place, std::uint32_t ranks) noexcept {
    constexpr std::int64_t depth_max = 40 / Dimensions;  // so that the product below has at most 64 bits
    const std::int64_t depth = std::clamp<std::int64_t>(level - 1, 0, depth_max);  // of the cell around it
    std::array<std::uint64_t, Dimensions> values{};
    for (std::size_t each = 0; each < Dimensions; ++each)
      values[each] = static_cast<std::uint64_t>(place[each] >> std::clamp<std::int64_t>(level - depth, 0, 63));
    const auto bits = static_cast<unsigned>(depth);
    const std::uint64_t number = detail::hilbert_number<Dimensions>(values, bits);
    return rank_id(static_cast<std::uint32_t>(number * ranks >> (Dimensions * bits)));
  }
};

}  // namespace nacre
