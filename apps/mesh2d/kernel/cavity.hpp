// SPDX-License-Identifier: Apache-2.0
// Inserts points into a constrained Delaunay triangulation by replacing a cavity (Bowyer, Watson).
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/triangulation.hpp"

namespace mesh2d {

/// The triangles whose circles hold a new point, connected by sides that are not constrained, and the sides around
/// them. One object serves many insertions and keeps its memory.
class cavity {
 public:
  /// Collects the cavity of `point`, which lies in the triangle `begin`. Returns false, with no trace, if the cavity
  /// goes around a vertex, or is not star-shaped as seen from `point`. If a side around it is encroached, the shape is
  /// not checked: the cavity is to be dropped, not filled.
  bool collect(triangulation& mesh, const point& point, index begin);
  /// The constrained sides around the cavity for which `at` lies in the circle over the side.
  [[nodiscard]] const std::vector<side>& encroached() const noexcept { return encroached_; }
  /// Ends what collect began, without an insertion.
  void drop(triangulation& mesh) noexcept;
  /// Fills the cavity with triangles around a new vertex; returns it. The triangles are those of `filled()`.
  index fill(triangulation& mesh, const point& point);
  [[nodiscard]] const std::vector<index>& filled() const noexcept { return triangles_; }

 private:
  struct border {
    index begin, end;
    side beyond;
    std::uint32_t constrained;
    std::uint32_t region;
  };
  void grow(triangulation& mesh, const point& point, side s);

  std::vector<index> triangles_;
  std::vector<side> stack_;
  std::vector<border> borders_;  // counterclockwise
  std::vector<side> encroached_;
  bool touches_constraint_ = false, is_tree_ = true;
};

}  // namespace mesh2d
