// SPDX-License-Identifier: Apache-2.0
// Delaunay refinement of a part (Ruppert; Shewchuk; shells and exempt triangles after Miller, Pav and Walkington).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernel/cavity.hpp"
#include "kernel/part.hpp"
#include "kernel/size_rule.hpp"

namespace mesh2d {

/// Refines one part. Its whole state is in the part, so a part may be refined by one refiner after the other, with the
/// same result.
class refiner {
 public:
  refiner(part& work, const size_rule& rule) noexcept;

  /// Works until the part is good, or until about `triangles_max` more triangles are there. Returns whether it is good.
  /// Throws std::runtime_error when there are more triangles than a side can name.
  bool refine(std::size_t triangles_max);
  /// Applies a split that the neighbour has made, with those that must come before it. Throws std::runtime_error if the
  /// part cannot follow.
  void apply(const piece_split& given);

 private:
  enum class outcome : std::uint8_t { good, changed, hopeless };

  void begin();
  outcome improve(index t);
  outcome insert_centre(index t);
  /// Handles a triangle whose centre is behind constrained sides, or in their circles.
  outcome split_in_way(index t, std::span<const side> sides);
  outcome insert_by_flips(index t, const point& point);
  outcome request_splits(std::span<const side> sides);
  [[nodiscard]] bool improvable(index t) const noexcept;
  /// The triangle that holds the place, by a straight walk from `t`; or the constrained side in its way.
  [[nodiscard]] index walk(index t, const point& point, side& blocked) const noexcept;
  [[nodiscard]] bool long_enough(side s) const noexcept;
  /// Whether the side can be split; finds its piece, and the middle as a fraction of it.
  [[nodiscard]] bool can_split(side s, std::uint32_t& number, index& middle) const noexcept;
  index split(side s, std::uint32_t number, index middle);
  void split_requested(std::pair<index, index> ends);
  void ensure(std::uint32_t number, index fraction);
  /// Looks at the triangles around a new vertex: which are bad, and which constrained sides have a vertex in their
  /// circle.
  void inspect_fan(index v);
  void inspect_side(side s);

  part& work_;
  const size_rule& rule_;
  cavity hole_;
  double height_min_;
};

}  // namespace mesh2d
