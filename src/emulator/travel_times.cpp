// SPDX-License-Identifier: Apache-2.0
// Ways through switches, and the time that a link's bandwidth adds.
#include "emulator/travel_times.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <nacre/error.hpp>
#include "machine/dragonfly.hpp"

namespace nacre::emulator {

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
  for (const coordinates& at : machine.missing) missing_.insert(number_of(at));
}

route travel_times::switched_route(const coordinates& from, const coordinates& to) const noexcept {
  if (topology_ == emulated_topology::dragonfly) {
    const std::uint32_t routers = machine::dragonfly(ports_).hops(number_of(from), number_of(to));
    return {routers, routers == 0 ? 0U : 1U};
  }
  std::uint32_t levels = 0;
  for (std::uint32_t a = number_of(from), b = number_of(to); a != b; ++levels) {
    a /= ports_;
    b /= ports_;
  }
  // A packet climbs to the lowest switch above both nodes, turns there, and descends.
  return {levels == 0 ? 0 : 2 * levels - 1, levels == 0 ? 0u : 1u};
}

/// Whether the way along x, then y, then z meets a missing node.
bool travel_times::passes_missing(coordinates at, const coordinates& to) const noexcept {
  for (std::int32_t coordinates::*const axis : {&coordinates::x, &coordinates::y, &coordinates::z}) {
    const std::int32_t extent = grid_.*axis;
    const std::int32_t straight = std::abs(at.*axis - to.*axis);
    const bool round = topology_ == emulated_topology::torus && extent - straight < straight;
    const std::int32_t step = (to.*axis > at.*axis) != round ? 1 : -1;
    while (at.*axis != to.*axis) {
      at.*axis = (at.*axis + step + extent) % extent;
      if (!exists(at)) return true;
    }
  }
  return false;
}

route travel_times::route_around(const coordinates& from, const coordinates& to) const {
  if (!passes_missing(from, to)) return straight_route(from, to);
  const std::uint64_t ends = std::uint64_t{number_of(from)} << 32 | number_of(to);
  const auto known = found_.find(ends);
  if (known != found_.end()) return known->second;
  return found_.emplace(ends, search(from, to)).first->second;
}

/// The fewest hops, and of those ways the fewest turns (Dijkstra over places and the axis of arrival).
route travel_times::search(const coordinates& from, const coordinates& to) const {
  using step = std::tuple<std::uint32_t, std::uint32_t, coordinates, int>;  // hops, turns, place, axis of arrival
  std::map<std::pair<coordinates, int>, std::pair<std::uint32_t, std::uint32_t>> best;
  std::set<step> open{{0, 0, from, -1}};
  constexpr std::array<std::int32_t coordinates::*, 3> axes{&coordinates::x, &coordinates::y, &coordinates::z};
  while (!open.empty()) {
    const auto [hops, turns, at, arrived] = *open.begin();
    open.erase(open.begin());
    if (at == to) return {hops, rule_ == turn_rule::once ? 1 : turns};
    for (int axis = 0; axis < 3; ++axis) {
      for (const std::int32_t direction : {-1, 1}) {
        coordinates next = at;
        std::int32_t& moved = next.*axes[static_cast<std::size_t>(axis)];
        const std::int32_t extent = grid_.*axes[static_cast<std::size_t>(axis)];
        moved += direction;
        if (topology_ == emulated_topology::torus) moved = (moved + extent) % extent;
        if (moved < 0 || moved >= extent || !exists(next)) continue;
        const std::pair cost(hops + 1, turns + (arrived >= 0 && arrived != axis ? 1 : 0));
        const auto [known, added] = best.try_emplace({next, axis}, cost);
        if (!added && known->second <= cost) continue;
        known->second = cost;
        open.insert({cost.first, cost.second, next, axis});
      }
    }
  }
  const auto text = [](const coordinates& at) {
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
  };
  throw usage_error("missing nodes leave no way from " + text(from) + " to " + text(to));
}

}  // namespace nacre::emulator
