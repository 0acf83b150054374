// SPDX-License-Identifier: Apache-2.0
// Forces segments into a triangulation.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "kernel/triangulation.hpp"

namespace mesh2d {

/// Which segment a constrained side belongs to, by its two vertices. The first one that covers a side keeps it.
class side_names {
 public:
  /// Returns false when the side has another name already, which it keeps.
  bool set(index a, index b, std::uint32_t segment) {
    return names_.try_emplace(key(a, b), segment).first->second == segment;
  }
  /// None for a side that has no name.
  [[nodiscard]] std::uint32_t find(index a, index b) const {
    const auto match = names_.find(key(a, b));
    return match == names_.end() ? none : match->second;
  }

 private:
  static std::uint64_t key(index a, index b) noexcept {
    return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
  }
  std::unordered_map<std::uint64_t, std::uint32_t> names_;
};

/// Makes the straight line between two vertices a chain of constrained sides, split where it passes vertices exactly,
/// and restores the constrained Delaunay property. Returns the number of a segment that it would cross, and leaves the
/// triangulation valid then. `overlaps` becomes true when another segment covers a part of it.
std::optional<std::uint32_t> insert_segment(triangulation& mesh, side_names& names, index source, index target,
                                            std::uint32_t segment, bool& overlaps);

}  // namespace mesh2d
