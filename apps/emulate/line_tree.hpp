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

  explicit line_tree(const nacre::emulated_node& here) noexcept
      : here_(here), grid_(here.machine().grid), is_whole_(here.machine().missing.empty()) {}

  [[nodiscard]] coordinates root() const {
    coordinates at{};
    if (is_whole_) return at;
    for (; at.x < grid_.x; ++at.x) {
      for (at.y = 0; at.y < grid_.y; ++at.y) {
        at.z = first_of(at.x, at.y);
        if (at.z < grid_.z) return at;
      }
    }
    return {};
  }

  /// Of a node other than the root.
  [[nodiscard]] coordinates predecessor(coordinates at) const {
    while (at.z > 0) {
      if (exists({at.x, at.y, --at.z})) return at;
    }
    while (at.y > 0) {
      if (exists({at.x, --at.y, 0})) return at;
    }
    while (at.x > 0) {
      if (exists({--at.x, 0, 0})) return at;
    }
    return root();
  }

  /// Calls visit(coordinates) for all nodes whose predecessor is `at`.
  template <class Visit>
  void for_each_successor(const coordinates& at, Visit visit) const {
    if (at.z == 0 && at.y == 0) branch_along_x(at.x + 1, at, visit);
    if (at.z == 0) branch_along_y(at.x, at.y + 1, at, visit);
    const std::int32_t next = next_of(at.x, at.y, at.z + 1);
    if (next < grid_.z) visit(coordinates{at.x, at.y, next});
    if (is_whole_ || exists({0, 0, 0}) || at != root()) return;
    branch_along_x(0, at, visit);  // what has no node before it but the root
  }

 private:
  /// Of a place in the grid.
  [[nodiscard]] bool exists(const coordinates& at) const noexcept { return is_whole_ || here_.exists(at); }
  /// The first node from z on, on the line of x and y.
  [[nodiscard]] std::int32_t next_of(std::int32_t x, std::int32_t y, std::int32_t z) const {
    while (z < grid_.z && !exists({x, y, z})) ++z;
    return z;
  }
  [[nodiscard]] std::int32_t first_of(std::int32_t x, std::int32_t y) const { return next_of(x, y, 0); }

  /// The first nodes of the lines along z from y on, up to the next node at which such a line branches off.
  template <class Visit>
  void branch_along_y(std::int32_t x, std::int32_t y, const coordinates& from, Visit visit) const {
    for (; y < grid_.y; ++y) {
      const coordinates found{x, y, first_of(x, y)};
      if (found.z < grid_.z && found != from) visit(found);
      if (found.z == 0) return;
    }
  }
  template <class Visit>
  void branch_along_x(std::int32_t x, const coordinates& from, Visit visit) const {
    for (; x < grid_.x; ++x) {
      branch_along_y(x, 0, from, visit);
      if (exists({x, 0, 0})) return;
    }
  }

  const nacre::emulated_node& here_;
  const coordinates grid_;
  const bool is_whole_;
};

}  // namespace emulate
