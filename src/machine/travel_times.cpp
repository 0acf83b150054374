// SPDX-License-Identifier: Apache-2.0
// Computes how far packets travel: through switches, and around missing nodes.
#include "machine/travel_times.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include "machine/dragonfly.hpp"

namespace nacre::machine {

travel_times::travel_times(const emulated_machine& machine)
    : grid_(machine.grid),
      topology_(machine.topology),
      rule_(machine.turns),
      ports_(machine.switch_ports),
      hop_(machine.hop.count()),
      turn_(machine.turn.count()),
      transfer_(machine.bandwidth > 0
                    ? static_cast<virtual_time>(std::ceil(machine.packet_bytes * 1e9 / machine.bandwidth))
                    : 0) {
  for (const coordinates& place : machine.missing) missing_.insert(number_of(place));
}

route travel_times::switched_route(const coordinates& source, const coordinates& target) const noexcept {
  if (topology_ == emulated_topology::dragonfly) {
    const std::uint32_t routers = machine::dragonfly(ports_).hops(number_of(source), number_of(target));
    return {routers, routers == 0 ? 0U : 1U};
  }
  std::uint32_t levels = 0;
  for (std::uint32_t a = number_of(source), b = number_of(target); a != b; ++levels) {
    a /= ports_;
    b /= ports_;
  }
  // A packet climbs to the lowest switch above both nodes, turns there, and descends.
  return {levels == 0 ? 0 : 2 * levels - 1, levels == 0 ? 0u : 1u};
}

namespace {

constexpr std::array<std::int32_t coordinates::*, 3> axes{&coordinates::x, &coordinates::y, &coordinates::z};

/// 1 or -1: the direction along one axis of a mesh, or of a torus, where a packet takes the shorter way.
std::int32_t direction(std::int32_t source, std::int32_t target, std::int32_t extent, bool torus) noexcept {
  const std::int32_t straight = std::abs(source - target);
  const bool round = torus && extent - straight < straight;
  return (target > source) != round ? 1 : -1;
}

}  // namespace

coordinates travel_times::neighbour(const coordinates& place, std::size_t axis, std::int32_t step) const noexcept {
  coordinates next = place;
  const std::int32_t extent = grid_.*axes[axis];
  next.*axes[axis] += step;
  if (topology_ == emulated_topology::torus) next.*axes[axis] = (next.*axes[axis] + extent) % extent;
  return next;
}

/// Whether the way along x, then y, then z meets a missing node.
bool travel_times::passes_missing(coordinates place, const coordinates& target) const noexcept {
  const bool torus = topology_ == emulated_topology::torus;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::int32_t step = direction(place.*axes[axis], target.*axes[axis], grid_.*axes[axis], torus);
    while (place.*axes[axis] != target.*axes[axis]) {
      place = neighbour(place, axis, step);
      if (!exists(place)) return true;
    }
  }
  return false;
}

route travel_times::route_around(const coordinates& source, const coordinates& target) const {
  if (!passes_missing(source, target)) return straight_route(source, target);
  const route match = rest_of(source, packet_way::no_axis, target);
  return {match.hops, rule_ == turn_rule::once ? 1 : match.turns};
}

link_step travel_times::first_step(const coordinates& place, const coordinates& target, const packet_way& way) const {
  link_step best;
  std::pair<std::uint32_t, std::uint32_t> least{~0U, 0};
  for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
    if (!way.detour) {
      if (place.*axes[axis] == target.*axes[axis]) continue;
      const bool torus = topology_ == emulated_topology::torus;
      const std::int32_t step = direction(place.*axes[axis], target.*axes[axis], grid_.*axes[axis], torus);
      return {axis, step > 0, neighbour(place, axis, step)};
    }
    for (const std::int32_t step : {-1, 1}) {
      const coordinates next = neighbour(place, axis, step);
      if (next.*axes[axis] < 0 || next.*axes[axis] >= grid_.*axes[axis] || !exists(next)) continue;
      const route rest = rest_of(next, axis, target);
      const std::uint32_t turn = way.axis != packet_way::no_axis && way.axis != axis ? 1 : 0;
      const std::pair cost(rest.hops, rest.turns + turn);
      if (cost >= least) continue;
      least = cost;
      best = {axis, step > 0, next};
    }
  }
  return best;
}

/// Hops and turns that a packet still needs at least.
std::pair<std::uint32_t, std::uint32_t> travel_times::least_rest(const coordinates& place, std::size_t arrived,
                                                                 const coordinates& target) const noexcept {
  std::uint32_t turns = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis != arrived && place.*axes[axis] != target.*axes[axis]) ++turns;
  }
  if (arrived == packet_way::no_axis && turns != 0) --turns;
  return {straight_route(place, target).hops, turns};
}

route travel_times::rest_of(const coordinates& source, std::uint8_t axis, const coordinates& target) const {
  // Numbers of nodes have 31 bits.
  const std::uint64_t ends = (std::uint64_t{number_of(source)} << 2 | axis) << 31 | number_of(target);
  const auto known = routes_.find(ends);
  if (known != routes_.end()) return known->second;
  return routes_.emplace(ends, search(source, axis, target)).first->second;
}

/// The fewest hops, and of those ways the fewest turns, for a packet that has come along an axis (A* over places and
/// axes of arrival). No way is shorter than the straight one, and each axis along which the ends differ costs a turn.
/// Of the places that promise the same, the one farthest on its way comes first.
route travel_times::search(const coordinates& source, std::uint8_t axis, const coordinates& target) const {
  using length = std::pair<std::uint32_t, std::uint32_t>;               // hops, turns
  using open_place = std::tuple<length, std::uint32_t, std::uint64_t>;  // at least in all, hops left at least, place
  std::unordered_map<std::uint64_t, std::pair<length, coordinates>> best;
  std::priority_queue<open_place, std::vector<open_place>, std::greater<>> open;
  const auto reach = [&](const coordinates& position, std::size_t arrived, const length& so_far) {
    const std::uint64_t place = std::uint64_t{number_of(position)} << 2 | arrived;
    const auto [known, added] = best.try_emplace(place, so_far, position);
    if (!added && known->second.first <= so_far) return;
    known->second.first = so_far;
    const length rest = least_rest(position, arrived, target);
    open.emplace(length(so_far.first + rest.first, so_far.second + rest.second), rest.first, place);
  };
  for (reach(source, axis, {0, 0}); !open.empty();) {
    const auto [whole, rest, place] = open.top();
    open.pop();
    const auto [so_far, position] = best.at(place);
    const std::size_t arrived = place & 3U;
    if (position == target) return {so_far.first, so_far.second};
    const length promised = least_rest(position, arrived, target);
    if (length(so_far.first + promised.first, so_far.second + promised.second) != whole) continue;  // a better way
    for (std::size_t along = 0; along < axes.size(); ++along) {
      for (const std::int32_t direction : {-1, 1}) {
        const coordinates next = neighbour(position, along, direction);
        if (next.*axes[along] < 0 || next.*axes[along] >= grid_.*axes[along] || !exists(next)) continue;
        const bool turns = arrived != packet_way::no_axis && arrived != along;
        reach(next, along, {so_far.first + 1, so_far.second + (turns ? 1 : 0)});
      }
    }
  }
  const auto text = [](const coordinates& position) {
    return "(" + std::to_string(position.x) + ", " + std::to_string(position.y) + ", " + std::to_string(position.z) +
           ")";
  };
  throw usage_error("missing nodes leave no way from " + text(source) + " to " + text(target));
}

}  // namespace nacre::machine
