// SPDX-License-Identifier: Apache-2.0
// Delaunay refinement of a box whose hull stays as it is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/cavity.hpp"
#include "kernel/triangulation.hpp"
#include "plan/size_field.hpp"

namespace mesh3d {

/// Which tetrahedra are good enough.
struct quality_rule {
  /// The radius of the sphere around a tetrahedron, as a part of the length that edges should have there; 0.61 is that
  /// of a regular one. Edges are at least that long then.
  static constexpr double radius_factor = 0.75;

  size_field size{};
  double ratio_max = 2;  // of that radius to the shortest edge

  template <class Archive>
  void serialize(Archive& ar) {
    ar(size, ratio_max);
  }
};

/// How far the refinement has come.
struct refine_state {
  index cursor = 0;  // tetrahedra before it have been looked at, but for those in `again`
  std::vector<index> again{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cursor, again);
  }
};

/// What became of the point that a tetrahedron asks for.
enum class attempt : std::uint8_t {
  good,     ///< the tetrahedron is within its bounds
  refused,  ///< its centre is outside of the box, too near to a facet of the hull, or beyond what doubles can serve
  inserted,
};

/// Inserts centres of spheres around tetrahedra that are too large or too thin. The hull stays as it is, since points
/// within a convex box do not change the triangulation of its faces. A point in the smallest sphere around a facet of
/// the hull is refused: it would make flat tetrahedra, and spheres that reach vertices of the next subdomain.
class refiner {
 public:
  refiner(triangulation& mesh, const quality_rule& rule);
  /// Inserts at most so many points. Returns true when no tetrahedron is left to look at.
  bool refine(refine_state& state, std::size_t points_max);
  /// For a check: whether there is nothing to insert for this tetrahedron. The mesh stays as it is.
  [[nodiscard]] attempt judge(index t);

 private:
  enum class wish : std::uint8_t { nothing, possible, impossible };
  wish point_for(index t, point& at) const;
  bool collect(index t, const point& at);

  triangulation& mesh_;
  const quality_rule& rule_;
  cavity hole_{};
};

}  // namespace mesh3d
