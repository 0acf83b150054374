// SPDX-License-Identifier: Apache-2.0
// Placements: the ranks on which the elements of an array are made.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <nacre/extents.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The default placement: each rank gets a run of consecutive places. The lengths of two runs differ by one at most.
struct by_block {
  [[nodiscard]] rank_id operator()(const index& index, const extents& shape, std::uint32_t ranks) const {
    const std::uint64_t number = shape.number_of(index), each = shape.count() / ranks, longer = shape.count() % ranks;
    if (number < longer * (each + 1)) return rank_id(static_cast<std::uint32_t>(number / (each + 1)));
    return rank_id(static_cast<std::uint32_t>(longer + (number - longer * (each + 1)) / each));
  }
  /// The places whose home is `rank`, by number: the first one, and the one behind the last.
  [[nodiscard]] static std::pair<std::uint64_t, std::uint64_t> run_of(rank_id rank, const extents& shape,
                                                                      std::uint32_t ranks) noexcept {
    const std::uint64_t each = shape.count() / ranks, longer = shape.count() % ranks, previous = rank.value();
    const std::uint64_t begin = previous * each + std::min(previous, longer);
    return {begin, begin + each + (previous < longer ? 1 : 0)};
  }
  /// Calls visit(const index&) with each place whose home is `rank`, in the order of the places; see lists_places.
  template <class Visit>
  void for_each_place(rank_id rank, const extents& shape, std::uint32_t ranks, Visit&& visit) const {
    const auto [begin, end] = run_of(rank, shape, ranks);
    for (std::uint64_t number = begin; number < end; ++number) visit(shape.place_of(number));
  }
};

/// A placement names the home of each place: the rank on which its element is made. All ranks compute it and must get
/// the same answer, so it holds no data: it is a function object without members, or a lambda without captures.
template <class P>
concept array_placement = std::is_empty_v<P> && std::is_default_constructible_v<P> &&
    requires(const P& of, const index& position, const extents& shape, std::uint32_t ranks) {
  { of(position, shape, ranks) } -> std::convertible_to<rank_id>;
};

/// A placement that lists the places of a rank, in the order of the places (the last dimension runs fastest), so that
/// create_array asks it for those only. For any other placement, create_array asks for the home of every place: once
/// per place, shared out among the ranks.
template <class P>
concept lists_places = array_placement<P> &&
    requires(const P& placement, rank_id of, const extents& shape, std::uint32_t ranks, void (&visit)(const index&)) {
  placement.for_each_place(of, shape, ranks, visit);
};

}  // namespace nacre
