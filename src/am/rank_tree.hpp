// SPDX-License-Identifier: Apache-2.0
// The tree of ranks along which collectives and arrays send to all and combine results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nacre {

/// Adjacent ranks: a rank of the tree and all ranks below it. The first one heads the others.
struct rank_run {
  std::uint32_t begin = 0, end = 0;
};

inline constexpr std::uint32_t tree_children_max = 4;

/// The ranks behind the head of a run, as adjacent runs, each headed by a child. If they cannot be equally long, the
/// first ones are longer by one rank. So results that are combined child by child are combined in the order of the
/// ranks. The tree of termination is another, in quiescence/wave_detector.
[[nodiscard]] inline std::vector<rank_run> children_of(const rank_run& whole,
                                                       std::uint32_t children_max = tree_children_max) {
  const std::uint32_t rest = whole.end - whole.begin - 1, children = std::min(rest, children_max);
  std::vector<rank_run> all;
  all.reserve(children);
  std::uint32_t begin = whole.begin + 1;
  for (std::uint32_t child = 0; child < children; ++child) {
    const std::uint32_t end = begin + rest / children + (child < rest % children ? 1 : 0);
    all.push_back({begin, end});
    begin = end;
  }
  return all;
}

/// The place of one rank in the tree with rank 0 as its root.
struct tree_place {
  std::uint32_t parent = 0;  ///< of the root: itself
  std::vector<rank_run> children{};
};
[[nodiscard]] inline tree_place place_in_tree(std::uint32_t rank, std::uint32_t ranks,
                                              std::uint32_t children_max = tree_children_max) {
  tree_place place;
  rank_run position{0, ranks};
  for (;;) {
    place.children = children_of(position, children_max);
    if (position.begin == rank) return place;
    place.parent = position.begin;
    position =
        *std::find_if(place.children.begin(), place.children.end(), [&](const rank_run& r) { return rank < r.end; });
  }
}

}  // namespace nacre
