// SPDX-License-Identifier: Apache-2.0
// Inserts points into a Delaunay triangulation by replacing a cavity (Bowyer, Watson).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/triangulation.hpp"

namespace mesh3d {

/// Finds the two facets at an edge, while a cavity is filled. An open hash table that is emptied by counting up an
/// epoch.
class edge_table {
 public:
  /// Makes room for so many edges, and forgets all that were there.
  void begin(std::size_t edges);
  /// Returns the facet that waits at the edge of `a` and `b`; if there is none, `waiting` waits there.
  facet meet(index a, index b, facet waiting);

 private:
  struct slot {
    std::uint64_t edge = 0;
    facet waiting = none;
    std::uint32_t epoch = 0;
  };
  std::vector<slot> slots_{};
  std::uint32_t epoch_ = 0;
};

/// The tetrahedra whose spheres hold a new point, and the facets around them. One object serves many insertions into
/// one triangulation and keeps its memory.
class cavity {
 public:
  /// Collects the cavity of `point`, which lies in the tetrahedron `begin` and is no vertex.
  void collect(const triangulation& mesh, const point& point, index begin);
  /// The facets around the cavity, as their tetrahedra inside of it have them.
  [[nodiscard]] const std::vector<facet>& border() const noexcept { return border_; }
  /// The tetrahedra of the cavity, until it is filled.
  [[nodiscard]] const std::vector<index>& inside() const noexcept { return inside_; }
  /// Fills the cavity with tetrahedra around a new vertex, and returns the vertex. They are those of `filled`.
  index fill(triangulation& mesh, const point& point);
  [[nodiscard]] const std::vector<index>& filled() const noexcept { return filled_; }

 private:
  enum class mark : std::uint8_t { unseen, inside, outside };
  index take_slot(triangulation& mesh);
  void add_tetrahedron(triangulation& mesh, facet beyond, const std::array<index, 3>& base, index apex);

  std::vector<mark> marks_{};  // of tetrahedra; all are `unseen` between two calls of `collect`
  std::vector<index> inside_{}, outside_{}, filled_{};
  std::vector<facet> border_{};
  struct base_triangle {
    std::array<index, 3> corner;
    facet beyond;
  };
  std::vector<base_triangle> bases_{};
  edge_table edges_{};
};

/// Whether `p` lies in the smallest sphere around a facet, or on it. `margin` widens the sphere by that part of its
/// squared radius.
bool encroaches(const triangulation& mesh, facet f, const point& p, double margin = 1e-9) noexcept;

}  // namespace mesh3d
