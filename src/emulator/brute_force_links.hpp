// SPDX-License-Identifier: Apache-2.0
// For tests: links that carry one packet at a time, and ways through them, found with the plainest means.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>

namespace nacre::emulator {

/// Distances to a node are relaxed until none changes. On small grids only.
class brute_force_links {
 public:
  static constexpr int none = 3;
  /// A packet at a router, and how it has come there.
  struct packet_place {
    coordinates position{};
    int axis = none;
    bool detour = false;
  };

  explicit brute_force_links(const emulated_machine& machine)
      : machine_(machine),
        transfer_(machine.bandwidth > 0 ? static_cast<std::int64_t>(std::ceil(128e9 / machine.bandwidth)) : 0) {}

  [[nodiscard]] std::int64_t transfer() const { return transfer_; }
  /// A packet that leaves its node: it goes straight unless a missing node stands in its way.
  [[nodiscard]] packet_place start(const coordinates& source, const coordinates& target) const {
    packet_place place{source};
    for (packet_place site = place; site.position != target;) {
      site.position = straight(site.position, target).target;
      if (is_missing(site.position)) return {source, none, true};
    }
    return place;
  }
  /// Moves a packet over its next link, which it asks for at `time`. Returns when the link begins to carry it.
  std::int64_t carry(packet_place& place, const coordinates& target, std::int64_t time) {
    const auto [axis, step, next] = link_of(place, target);
    std::int64_t& free = free_[{place.position, axis, step}];
    const std::int64_t begin = std::max(time, free);
    free = begin + transfer_;
    place.axis = axis;
    place.position = next;
    return begin;
  }
  /// Whether the packet turns where it is now.
  [[nodiscard]] bool turns(const packet_place& place, const coordinates& target) {
    return link_of(place, target).axis != place.axis;
  }

 private:
  struct link {
    int axis = none, step = 0;
    coordinates target{};
  };
  using cost = std::pair<std::int64_t, std::int64_t>;  // hops, turns
  static constexpr std::array<std::int32_t coordinates::*, 3> axes{&coordinates::x, &coordinates::y, &coordinates::z};

  bool is_missing(const coordinates& place) const {
    return std::find(machine_.missing.begin(), machine_.missing.end(), place) != machine_.missing.end();
  }
  link straight(coordinates place, const coordinates& target) const {
    for (int axis = 0;; ++axis) {
      std::int32_t& local_count = place.*axes[static_cast<std::size_t>(axis)];
      const std::int32_t present_count = target.*axes[static_cast<std::size_t>(axis)];
      const std::int32_t extent = machine_.grid.*axes[static_cast<std::size_t>(axis)];
      if (local_count == present_count) continue;
      const bool torus = machine_.topology == emulated_topology::torus;
      const bool round =
          torus && extent - std::abs(present_count - local_count) < std::abs(present_count - local_count);
      const int step = (present_count > local_count) == round ? -1 : 1;
      local_count = (local_count + step + extent) % extent;
      return {axis, step, place};
    }
  }
  std::vector<link> neighbours(const coordinates& subject) const {
    std::vector<link> all;
    for (int axis = 0; axis < 3; ++axis) {
      for (const int step : {-1, 1}) {
        coordinates next = subject;
        std::int32_t& moved = next.*axes[static_cast<std::size_t>(axis)];
        const std::int32_t extent = machine_.grid.*axes[static_cast<std::size_t>(axis)];
        moved += step;
        if (machine_.topology == emulated_topology::torus) moved = (moved + extent) % extent;
        if (moved >= 0 && moved < extent && !is_missing(next)) all.push_back({axis, step, next});
      }
    }
    return all;
  }
  link link_of(const packet_place& place, const coordinates& target) {
    if (!place.detour) return straight(place.position, target);
    link best;
    cost least{1'000'000, 0};
    for (const auto& [axis, step, next] : neighbours(place.position)) {
      const cost rest = costs_to(target).at({next, axis});
      const cost all{rest.first, rest.second + (place.axis != none && place.axis != axis ? 1 : 0)};
      if (all < least) {
        least = all;
        best = {axis, step, next};
      }
    }
    return best;
  }
  /// Of a packet at each place that has come along each axis.
  const std::map<std::pair<coordinates, int>, cost>& costs_to(const coordinates& target) {
    const auto [known, is_new] = costs_.try_emplace(target);
    auto& costs = known->second;
    if (!is_new) return costs;
    for (std::int32_t x = 0; x < machine_.grid.x; ++x) {
      for (std::int32_t y = 0; y < machine_.grid.y; ++y) {
        for (std::int32_t z = 0; z < machine_.grid.z; ++z) {
          for (int axis = 0; axis < 3; ++axis)
            costs[{{x, y, z}, axis}] = {target == coordinates{x, y, z} ? 0 : 1'000'000, 0};
        }
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& [state, best] : costs) {
        for (const auto& [axis, step, next] : neighbours(state.first)) {
          const cost rest = costs.at({next, axis});
          const cost all{rest.first + 1, rest.second + (axis != state.second ? 1 : 0)};
          if (all >= best) continue;
          best = all;
          changed = true;
        }
      }
    }
    return costs;
  }

  emulated_machine machine_;
  std::int64_t transfer_;
  std::map<std::tuple<coordinates, int, int>, std::int64_t> free_;  // of the link out of a node along an axis
  std::map<coordinates, std::map<std::pair<coordinates, int>, cost>> costs_;
};

}  // namespace nacre::emulator
