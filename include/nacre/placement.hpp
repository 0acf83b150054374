// SPDX-License-Identifier: Apache-2.0
// Placements: the ranks on which the elements of an array are made.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <nacre/extents.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The default placement: each rank gets a run of consecutive places. The lengths of two runs differ by one at most.
struct by_block {
  [[nodiscard]] rank_id operator()(const index& at, const extents& shape, std::uint32_t ranks) const {
    const std::uint64_t number = shape.number_of(at), each = shape.count() / ranks, longer = shape.count() % ranks;
    if (number < longer * (each + 1)) return rank_id(static_cast<std::uint32_t>(number / (each + 1)));
    return rank_id(static_cast<std::uint32_t>(longer + (number - longer * (each + 1)) / each));
  }
};

/// A placement names the home of each place: the rank on which its element is made. All ranks compute it and must get
/// the same answer, so it holds no data: it is a function object without members, or a lambda without captures.
template <class P>
concept array_placement = std::is_empty_v<P> && std::is_default_constructible_v<P> &&
    requires(const P& of, const index& at, const extents& shape, std::uint32_t ranks) {
  { of(at, shape, ranks) } -> std::convertible_to<rank_id>;
};

}  // namespace nacre
