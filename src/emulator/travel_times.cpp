// SPDX-License-Identifier: Apache-2.0
// Computes how far packets travel: through switches, and around missing nodes.
#include "emulator/travel_times.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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

namespace {

constexpr std::array<std::int32_t coordinates::*, 3> axes{&coordinates::x, &coordinates::y, &coordinates::z};

/// 1 or -1: the direction along one axis of a mesh, or of a torus, where a packet takes the shorter way.
std::int32_t direction(std::int32_t from, std::int32_t to, std::int32_t extent, bool torus) noexcept {
  const std::int32_t straight = std::abs(from - to);
  const bool round = torus && extent - straight < straight;
  return (to > from) != round ? 1 : -1;
}

}  // namespace

coordinates travel_times::neighbour(const coordinates& at, std::size_t axis, std::int32_t step) const noexcept {
  coordinates next = at;
  const std::int32_t extent = grid_.*axes[axis];
  next.*axes[axis] += step;
  if (topology_ == emulated_topology::torus) next.*axes[axis] = (next.*axes[axis] + extent) % extent;
  return next;
}

/// Whether the way along x, then y, then z meets a missing node.
bool travel_times::passes_missing(coordinates at, const coordinates& to) const noexcept {
  const bool torus = topology_ == emulated_topology::torus;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::int32_t step = direction(at.*axes[axis], to.*axes[axis], grid_.*axes[axis], torus);
    while (at.*axes[axis] != to.*axes[axis]) {
      at = neighbour(at, axis, step);
      if (!exists(at)) return true;
    }
  }
  return false;
}

route travel_times::route_around(const coordinates& from, const coordinates& to) const {
  if (!passes_missing(from, to)) return straight_route(from, to);
  const route found = rest_of(from, packet_way::no_axis, to);
  return {found.hops, rule_ == turn_rule::once ? 1 : found.turns};
}

link_step travel_times::first_step(const coordinates& at, const coordinates& to, const packet_way& way) const {
  link_step best;
  std::pair<std::uint32_t, std::uint32_t> least{~0U, 0};
  for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
    if (!way.detour) {
      if (at.*axes[axis] == to.*axes[axis]) continue;
      const bool torus = topology_ == emulated_topology::torus;
      const std::int32_t step = direction(at.*axes[axis], to.*axes[axis], grid_.*axes[axis], torus);
      return {axis, step > 0, neighbour(at, axis, step)};
    }
    for (const std::int32_t step : {-1, 1}) {
      const coordinates next = neighbour(at, axis, step);
      if (next.*axes[axis] < 0 || next.*axes[axis] >= grid_.*axes[axis] || !exists(next)) continue;
      const route rest = rest_of(next, axis, to);
      const std::uint32_t turn = way.axis != packet_way::no_axis && way.axis != axis ? 1 : 0;
      const std::pair cost(rest.hops, rest.turns + turn);
      if (cost >= least) continue;
      least = cost;
      best = {axis, step > 0, next};
    }
  }
  return best;
}

route travel_times::rest_of(const coordinates& from, std::uint8_t axis, const coordinates& to) const {
  // Numbers of nodes have 31 bits.
  const std::uint64_t ends = (std::uint64_t{number_of(from)} << 2 | axis) << 31 | number_of(to);
  const auto known = found_.find(ends);
  if (known != found_.end()) return known->second;
  return found_.emplace(ends, search(from, axis, to)).first->second;
}

/// The fewest hops, and of those ways the fewest turns, for a packet that has come along an axis (A* over places and
/// axes of arrival: no way is shorter than the straight one).
route travel_times::search(const coordinates& from, std::uint8_t axis, const coordinates& to) const {
  using step = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, coordinates, std::size_t>;
  std::map<std::pair<coordinates, std::size_t>, std::pair<std::uint32_t, std::uint32_t>> best;
  const auto straight = [&](const coordinates& at) { return straight_route(at, to).hops; };
  std::set<step> open{{straight(from), 0, 0, from, axis}};  // hops at least, turns, hops so far, place, axis of arrival
  while (!open.empty()) {
    const auto [estimate, turns, hops, at, arrived] = *open.begin();
    open.erase(open.begin());
    if (at == to) return {hops, turns};
    for (std::size_t along = 0; along < axes.size(); ++along) {
      for (const std::int32_t direction : {-1, 1}) {
        const coordinates next = neighbour(at, along, direction);
        if (next.*axes[along] < 0 || next.*axes[along] >= grid_.*axes[along] || !exists(next)) continue;
        const std::pair cost(hops + 1, turns + (arrived != packet_way::no_axis && arrived != along ? 1 : 0));
        const auto [known, added] = best.try_emplace({next, along}, cost);
        if (!added && known->second <= cost) continue;
        known->second = cost;
        open.insert({cost.first + straight(next), cost.second, cost.first, next, along});
      }
    }
  }
  const auto text = [](const coordinates& at) {
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
  };
  throw usage_error("missing nodes leave no way from " + text(from) + " to " + text(to));
}

}  // namespace nacre::emulator
