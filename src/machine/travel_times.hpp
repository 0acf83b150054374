// SPDX-License-Identifier: Apache-2.0
// The time that a packet takes from node to node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <nacre/emulated_machine.hpp>
#include "machine/packet_way.hpp"

namespace nacre::machine {

/// Computes the ways and times of packets. One thread at a time: ways around missing nodes are searched and kept.
class travel_times {
 public:
  static constexpr std::size_t rests_max_default = std::size_t{1} << 20;
  /// Keeps so many rests of ways around missing nodes at most, of some 60 bytes each, and then begins anew.
  explicit travel_times(const emulated_machine& machine, std::size_t rests_max = rests_max_default);

  /// Throws usage_error when missing nodes leave no way.
  [[nodiscard]] route route_of(const coordinates& source, const coordinates& target) const {
    if (!missing_.empty() && is_grid()) return route_around(source, target);
    return straight_route(source, target);
  }
  /// Whether the way from node to node goes around missing ones. Throws usage_error when there is none.
  [[nodiscard]] bool detours(const coordinates& source, const coordinates& target) const {
    return !missing_.empty() && passes_missing(source, target);
  }
  /// The first link on the way from a node of a grid to another one, for a packet that came along `way.axis`. Without a
  /// detour: along x, then y, then z. On a detour it takes the way with the fewest hops; of several the one with the
  /// fewest turns, then x before y before z, then downward before upward.
  [[nodiscard]] link_step first_step(const coordinates& place, const coordinates& target, const packet_way& way) const;
  [[nodiscard]] bool exists(const coordinates& place) const noexcept {
    return missing_.empty() || missing_.find(number_of(place)) == missing_.end();
  }
  [[nodiscard]] route straight_route(const coordinates& source, const coordinates& target) const noexcept {
    if (!is_grid()) return switched_route(source, target);
    const std::int32_t x = along(source.x, target.x, grid_.x);
    const std::int32_t y = along(source.y, target.y, grid_.y);
    const std::int32_t z = along(source.z, target.z, grid_.z);
    const std::int32_t differing = (x != 0) + (y != 0) + (z != 0);
    const std::int32_t turns = rule_ == turn_rule::once ? differing != 0 : std::max(differing - 1, 0);
    return {static_cast<std::uint32_t>(x + y + z), static_cast<std::uint32_t>(turns)};
  }
  /// The time from the port of one node to the input buffer of another; 0 from a node to itself.
  [[nodiscard]] virtual_time time_of(const route& way) const noexcept {
    if (way.hops == 0) return 0;
    return way.hops * hop_ + way.turns * turn_ + transfer_;
  }
  /// The time for which a packet occupies a link.
  [[nodiscard]] virtual_time transfer() const noexcept { return transfer_; }
  /// The least time of a packet between two nodes.
  [[nodiscard]] virtual_time least() const noexcept { return time_of({1, rule_ == turn_rule::once ? 1u : 0u}); }

  [[nodiscard]] std::uint32_t number_of(const coordinates& place) const noexcept {
    return static_cast<std::uint32_t>(place.x + grid_.x * (place.y + grid_.y * place.z));
  }
  /// The node of a number.
  [[nodiscard]] coordinates place_of(std::uint32_t number) const noexcept {
    const auto x = static_cast<std::uint32_t>(grid_.x), y = static_cast<std::uint32_t>(grid_.y);
    return {number % x, number / x % y, number / x / y};
  }
  /// The neighbours of a node that exist, on a grid.
  template <class Visit>
  void for_each_neighbour(const coordinates& place, Visit visit) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const std::int32_t step : {-1, 1}) {
        const coordinates next = neighbour(place, axis, step);
        const bool inside =
            next.x >= 0 && next.y >= 0 && next.z >= 0 && next.x < grid_.x && next.y < grid_.y && next.z < grid_.z;
        if (inside && exists(next)) visit(next, axis, step);
      }
    }
  }

  /// The node one step along an axis; outside of a mesh where it ends.
  [[nodiscard]] coordinates neighbour(const coordinates& place, std::size_t axis, std::int32_t step) const noexcept;
  /// Rests of ways around missing nodes that are known now.
  [[nodiscard]] std::size_t rests_kept() const noexcept { return rests_.size(); }

  /// Whether nodes are routers themselves; else switches join them.
  [[nodiscard]] bool is_grid() const noexcept {
    return topology_ == emulated_topology::mesh || topology_ == emulated_topology::torus;
  }

 private:
  /// The rest of a detour, and its first link where packets have asked for it.
  struct rest_of_way {
    route length;
    std::uint8_t axis = packet_way::no_axis;  // of the first link; no_axis: not known
    bool up = false;
  };

  [[nodiscard]] std::int32_t along(std::int32_t a, std::int32_t b, std::int32_t extent) const noexcept {
    const std::int32_t straight = std::abs(a - b);
    return topology_ == emulated_topology::torus ? std::min(straight, extent - straight) : straight;
  }
  [[nodiscard]] route switched_route(const coordinates& source, const coordinates& target) const noexcept;

  [[nodiscard]] bool passes_missing(coordinates source, const coordinates& target) const noexcept;
  [[nodiscard]] route route_around(const coordinates& source, const coordinates& target) const;
  [[nodiscard]] route rest_of(const coordinates& source, std::uint8_t axis, const coordinates& target) const;
  [[nodiscard]] link_step first_of_detour(const coordinates& place, const coordinates& target, std::uint8_t axis) const;
  [[nodiscard]] std::uint64_t ends_of(const coordinates& source, std::uint8_t axis,
                                      const coordinates& target) const noexcept;
  void keep(std::uint64_t ends, const rest_of_way& rest) const;

  coordinates grid_;
  emulated_topology topology_;
  turn_rule rule_;
  std::uint32_t ports_;
  virtual_time hop_, turn_, transfer_;
  std::unordered_set<std::uint32_t> missing_;  ///< numbers of nodes in the grid
  std::size_t rests_max_;
  mutable std::unordered_map<std::uint64_t, rest_of_way> rests_;  ///< of ways around them, by ends_of
};

}  // namespace nacre::machine
