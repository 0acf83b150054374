// SPDX-License-Identifier: Apache-2.0
// The search for a packet's way around missing nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include "machine/packet_way.hpp"

namespace nacre::machine {

class travel_times;

/// Looks for the fewest hops on a grid, and of those ways the fewest turns, for a packet that has come along an axis
/// (A* over places and axes of arrival). No way is shorter than the straight one, and each axis along which the ends
/// differ costs a turn. Of the places that promise the same, the one farthest on its way comes first. One answer each.
class way_search {
 public:
  way_search(const travel_times& times, const coordinates& source, std::uint8_t axis, const coordinates& target)
      : times_(times), source_(source), target_(target), axis_(axis) {}

  /// Throws usage_error when there is no way.
  [[nodiscard]] route shortest();

  struct hop {
    coordinates start;
    std::uint8_t axis;  ///< by which the packet has come to `start`
    route rest;         ///< from there on
    link_step link;
  };
  /// The hops of such a way: of several the one with its first link along x before y before z, then downward before
  /// upward; of those the one with its second link so, and on to the last. Throws as `shortest` does.
  [[nodiscard]] std::vector<hop> hops();

 private:
  using length = std::pair<std::uint32_t, std::uint32_t>;               // hops, turns
  using open_place = std::tuple<length, std::uint32_t, std::uint64_t>;  // at least in all, hops left at least, place
  enum class until : std::uint8_t { one_way, all_ways };
  struct reached_place {
    length so_far;
    coordinates position;
    bool leads = false;  // on a shortest way
  };

  [[nodiscard]] std::uint64_t key_of(const coordinates& position, std::size_t arrived) const noexcept;
  [[nodiscard]] length least_rest(const coordinates& place, std::size_t arrived) const noexcept;
  void reach(const coordinates& position, std::size_t arrived, const length& so_far);
  void run(until end);
  void mark_shortest();
  void mark_before(const reached_place& place, std::size_t arrived, std::vector<std::uint64_t>& marked);
  [[nodiscard]] hop next_hop(const coordinates& place, std::uint8_t arrived) const;

  const travel_times& times_;
  const coordinates source_, target_;
  const std::uint8_t axis_;
  std::unordered_map<std::uint64_t, reached_place> best_;  // by key_of
  std::priority_queue<open_place, std::vector<open_place>, std::greater<>> open_;
  std::optional<length> found_;
};

}  // namespace nacre::machine
