// SPDX-License-Identifier: Apache-2.0
// Who does the work of nodes that are missing.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>

namespace emulate {

/// Where the work of a place in the grid is done.
struct work_place {
  nacre::coordinates node;
  std::uint32_t part = 0;  ///< 0: the node's own; 1 to 6: of the missing neighbour at side part - 1
};
inline constexpr std::uint32_t parts_max = 7;

/// The neighbour at a side, 2 * axis, plus 1 upward; beyond the border the node at the other end.
[[nodiscard]] inline nacre::coordinates neighbour_round(const nacre::coordinates& position,
                                                        const nacre::coordinates& grid, std::uint32_t side) noexcept {
  const std::int32_t step = side % 2 == 0 ? -1 : 1;
  const auto moved = [step](std::int32_t place, std::int32_t extent) { return (place + step + extent) % extent; };
  if (side / 2 == 0) return {moved(position.x, grid.x), position.y, position.z};
  if (side / 2 == 1) return {position.x, moved(position.y, grid.y), position.z};
  return {position.x, position.y, moved(position.z, grid.z)};
}

/// Whether a side is a border of the machine: a torus has none.
[[nodiscard]] inline bool is_border(const nacre::coordinates& position, const nacre::emulated_machine& machine,
                                    std::uint32_t side) noexcept {
  if (machine.topology != nacre::emulated_topology::mesh) return false;
  const std::int32_t place = side / 2 == 0 ? position.x : side / 2 == 1 ? position.y : position.z;
  const std::int32_t extent = side / 2 == 0 ? machine.grid.x : side / 2 == 1 ? machine.grid.y : machine.grid.z;
  return place == (side % 2 == 0 ? 0 : extent - 1);
}

/// A neighbour stands in for a missing node: the first one that exists, beginning with another side for each place.
/// All nodes compute the same.
[[nodiscard]] inline work_place work_place_of(const nacre::emulated_node& emulated_node,
                                              const nacre::coordinates& place) {
  if (emulated_node.machine().missing.empty() || emulated_node.exists(place)) return {place, 0};
  const auto first = static_cast<std::uint32_t>(place.x + place.y + place.z) % 6;
  for (std::uint32_t k = 0; k < 6; ++k) {
    const std::uint32_t side = (first + k) % 6;
    if (is_border(place, emulated_node.machine(), side)) continue;
    const nacre::coordinates node = neighbour_round(place, emulated_node.machine().grid, side);
    if (emulated_node.exists(node)) return {node, (side ^ 1U) + 1};
  }
  throw std::runtime_error("the node (" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " +
                           std::to_string(place.z) + ") and all its neighbours are missing: nobody does its work");
}

/// The place whose work is this part of the node's.
[[nodiscard]] inline nacre::coordinates place_of_part(const nacre::emulated_node& node, std::uint32_t part) noexcept {
  return part == 0 ? node.at() : neighbour_round(node.at(), node.machine().grid, part - 1);
}

/// Calls visit(part, place) for all work that this node does.
template <class Visit>
void for_each_part(const nacre::emulated_node& node, Visit visit) {
  visit(std::uint32_t{0}, node.at());
  if (node.machine().missing.empty()) return;
  for (std::uint32_t part = 1; part < parts_max; ++part) {
    const nacre::coordinates place = place_of_part(node, part);
    if (node.exists(place)) continue;
    const work_place work_place = work_place_of(node, place);
    if (work_place.node == node.at() && work_place.part == part) visit(part, place);
  }
}

/// One value for each part of a node's work.
template <class T>
struct parts_of {
  T own_part;
  std::vector<T> others;  ///< none where no node is missing

  [[nodiscard]] T& operator[](std::uint32_t part) {
    if (part == 0) return own_part;
    if (others.empty()) others.resize(parts_max - 1);
    return others[part - 1];
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(own_part, others);
  }
};

}  // namespace emulate
