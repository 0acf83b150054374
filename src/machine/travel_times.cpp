// SPDX-License-Identifier: Apache-2.0
// Computes how far packets travel: through switches, and around missing nodes.
#include "machine/travel_times.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "machine/dragonfly.hpp"
#include "machine/way_search.hpp"

namespace nacre::machine {

travel_times::travel_times(const emulated_machine& machine, std::size_t rests_max)
    : grid_(machine.grid),
      topology_(machine.topology),
      rule_(machine.turns),
      ports_(machine.switch_ports),
      hop_(machine.hop.count()),
      turn_(machine.turn.count()),
      transfer_(machine.bandwidth > 0
                    ? static_cast<virtual_time>(std::ceil(machine.packet_bytes * 1e9 / machine.bandwidth))
                    : 0),
      rests_max_(rests_max) {
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
  if (way.detour) return first_of_detour(place, target, way.axis);
  for (std::uint8_t axis = 0; axis < axes.size(); ++axis) {
    if (place.*axes[axis] == target.*axes[axis]) continue;
    const bool torus = topology_ == emulated_topology::torus;
    const std::int32_t step = direction(place.*axes[axis], target.*axes[axis], grid_.*axes[axis], torus);
    return {axis, step > 0, neighbour(place, axis, step)};
  }
  return {};
}

/// Keeps the links of the whole way for the packet, which asks at each of its places.
link_step travel_times::first_of_detour(const coordinates& place, const coordinates& target, std::uint8_t axis) const {
  const auto link_of = [&](const rest_of_way& rest) {
    return link_step{rest.axis, rest.up, neighbour(place, rest.axis, rest.up ? 1 : -1)};
  };
  const auto known = rests_.find(ends_of(place, axis, target));
  if (known != rests_.end() && known->second.axis != packet_way::no_axis) return link_of(known->second);
  const std::vector<way_search::hop> hops = way_search(*this, place, axis, target).hops();
  if (hops.empty()) return {};
  for (const way_search::hop& each : hops)
    keep(ends_of(each.start, each.axis, target), {each.rest, each.link.axis, each.link.up});
  return hops.front().link;
}

std::uint64_t travel_times::ends_of(const coordinates& source, std::uint8_t axis,
                                    const coordinates& target) const noexcept {
  // Numbers of nodes have 31 bits.
  return (std::uint64_t{number_of(source)} << 2 | axis) << 31 | number_of(target);
}

/// A rest is a pure function of both ends and the axis: what is forgotten is searched again, and is the same.
void travel_times::keep(std::uint64_t ends, const rest_of_way& rest) const {
  if (rests_.size() >= rests_max_) rests_.clear();
  rests_.insert_or_assign(ends, rest);
}

route travel_times::rest_of(const coordinates& source, std::uint8_t axis, const coordinates& target) const {
  const std::uint64_t ends = ends_of(source, axis, target);
  const auto known = rests_.find(ends);
  if (known != rests_.end()) return known->second.length;
  const route length = way_search(*this, source, axis, target).shortest();
  keep(ends, {length, packet_way::no_axis, false});
  return length;
}

}  // namespace nacre::machine
