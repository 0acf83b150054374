// SPDX-License-Identifier: Apache-2.0
// The way of the line broadcast through all nodes, around missing ones.
#pragma once

#include <cstdint>

#include <nacre/emulator.hpp>

namespace emulate {

/// A tree of lines: one along x from the corner, from each of its nodes one along y, from each of theirs one along z. A
/// node's predecessor is the next one back on its line that exists; where there is none, the next one back on the line
/// from which it branches off; where there is none either, the root, which is the first of all nodes that exist, by x,
/// then y, then z. Every predecessor is before its node in that order, so it is a tree.
class line_tree {
 public:
  using coordinates = nacre::coordinates;

  explicit line_tree(const nacre::emulated_node& node) noexcept
      : node_(node), grid_(node.machine().grid), is_whole_(node.machine().missing.empty()) {}

  [[nodiscard]] coordinates root() const {
    coordinates place{};
    if (is_whole_) return place;
    for (; place.x < grid_.x; ++place.x) {
      for (place.y = 0; place.y < grid_.y; ++place.y) {
        place.z = first_of(place.x, place.y);
        if (place.z < grid_.z) return place;
      }
    }
    return {};
  }

  /// Of a node other than the root.
  [[nodiscard]] coordinates predecessor(coordinates place) const {
    while (place.z > 0) {
      if (exists({place.x, place.y, --place.z})) return place;
    }
    while (place.y > 0) {
      if (exists({place.x, --place.y, 0})) return place;
    }
    while (place.x > 0) {
      if (exists({--place.x, 0, 0})) return place;
    }
    return root();
  }

  /// Calls visit(coordinates) for all nodes whose predecessor is `place`.
  template <class Visit>
  void for_each_successor(const coordinates& place, Visit visit) const {
    if (place.z == 0 && place.y == 0) branch_along_x(place.x + 1, place, visit);
    if (place.z == 0) branch_along_y(place.x, place.y + 1, place, visit);
    const std::int32_t next = next_of(place.x, place.y, place.z + 1);
    if (next < grid_.z) visit(coordinates{place.x, place.y, next});
    if (is_whole_ || exists({0, 0, 0}) || place != root()) return;
    branch_along_x(0, place, visit);  // what has no node before it but the root
  }

 private:
  /// Of a place in the grid.
  [[nodiscard]] bool exists(const coordinates& place) const noexcept { return is_whole_ || node_.exists(place); }
  /// The first node from z on, on the line of x and y.
  [[nodiscard]] std::int32_t next_of(std::int32_t x, std::int32_t y, std::int32_t z) const {
    while (z < grid_.z && !exists({x, y, z})) ++z;
    return z;
  }
  [[nodiscard]] std::int32_t first_of(std::int32_t x, std::int32_t y) const { return next_of(x, y, 0); }

  /// The first nodes of the lines along z from y on, up to the next node at which such a line branches off.
  template <class Visit>
  void branch_along_y(std::int32_t x, std::int32_t y, const coordinates& source, Visit visit) const {
    for (; y < grid_.y; ++y) {
      const coordinates match{x, y, first_of(x, y)};
      if (match.z < grid_.z && match != source) visit(match);
      if (match.z == 0) return;
    }
  }
  template <class Visit>
  void branch_along_x(std::int32_t x, const coordinates& source, Visit visit) const {
    for (; x < grid_.x; ++x) {
      branch_along_y(x, 0, source, visit);
      if (exists({x, 0, 0})) return;
    }
  }

  const nacre::emulated_node& node_;
  const coordinates grid_;
  const bool is_whole_;
};

}  // namespace emulate
