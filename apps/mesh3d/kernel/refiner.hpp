// SPDX-License-Identifier: Apache-2.0
// Delaunay refinement of a box whose hull stays as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/cavity.hpp"
#include "kernel/triangulation.hpp"
#include "plan/size_field.hpp"

namespace mesh3d {

/// Which tetrahedra are good enough.
struct quality_rule {
  /// The largest radius of the sphere around a tetrahedron, as a part of the length that edges should have there. A
  /// regular tetrahedron has 0.61. A point that is inserted because of the size makes no edge below 0.75 of that
  /// length.
  static constexpr double radius_factor = 0.75;

  /// The greatest radius of an empty sphere around a point of the input surface on which the corners of a triangle of
  /// the mesh's surface lie. Points that are not on the surface keep that distance from it, so that the mesh's surface
  /// has no corner among them.
  static constexpr double surface_factor = 0.6;
  /// Points on the surface keep these distances from vertices, and from the hull of the subdomain.
  static constexpr double apart_factor = 0.3, hull_factor = 0.15;
  /// A point nearer than this counts as on the surface; the rest is rounding.
  static constexpr double on_surface = 1e-11;

  size_field size{};
  double ratio_max = 2;       // of that radius to the shortest edge
  double sliver_degrees = 0;  // tetrahedra with a dihedral angle below it are split in the end; 0: none are

  template <class Archive>
  void serialize(Archive& ar) {
    ar(size, ratio_max, sliver_degrees);
  }
};

/// How far the refinement has come.
struct refine_state {
  index cursor = 0;  // tetrahedra before it have been looked at, but for those in `again`
  std::vector<index> again{};
  bool changed = false;  // since the cursor was at the beginning
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cursor, again, changed);
  }
};

/// The least of the six dihedral angles, in degrees.
double least_dihedral(const std::array<point, 4>& corner) noexcept;

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
  /// Points are inserted first for size, then, if the rule asks for it, for slivers. Each pass repeats until it inserts
  /// nothing, because one point can make another possible.
  enum class pass : std::uint8_t { sizes, slivers };
  refiner(triangulation& mesh, const quality_rule& rule, pass pass = pass::sizes);
  /// Inserts at most so many points, and looks at no more than some dozen tetrahedra for each. Returns true when no
  /// tetrahedron is left to look at.
  bool refine(refine_state& state, std::size_t points_max);
  /// For a check: whether there is nothing to insert for this tetrahedron. The mesh stays as it is.
  [[nodiscard]] attempt judge(index t);
  /// The place on the input surface where the facet stands for it: where the line between the centres of the spheres on
  /// both sides of the facet crosses the surface, within the box. All facets with one make up the restricted Delaunay
  /// triangulation of the surface.
  [[nodiscard]] std::optional<point> on_surface_for(facet f) const;
  /// Inserts the point on_surface_for(f), if it keeps the distances that points on the surface keep. Returns the
  /// tetrahedra around it, or nothing when it does not.
  const std::vector<index>* insert_on_surface_for(facet f);
  /// Whether the tetrahedron is on the inner side of the surface: the centre of its sphere is or, where that is outside
  /// of the box, its centre of mass.
  [[nodiscard]] bool is_inside(index t) const;

 private:
  enum class wish : std::uint8_t { nothing, possible, impossible };
  wish point_for(index t, point& point) const;
  /// Whether a point is in the box and the sphere of `t`, and far enough from the input surface.
  [[nodiscard]] bool may_insert(index t, const point& point) const;
  bool collect(index t, const point& point);
  [[nodiscard]] std::array<point, 4> corners_of(index t) const;
  [[nodiscard]] int slivers_saved(const point& point) const;
  bool prepare_for_sliver(index t, point& point);
  [[nodiscard]] wish surface_point_for(facet f, point& point) const;
  bool collect_on_surface(index t, const point& point);
  /// Finds a point that the tetrahedron asks for, and its cavity.
  /// Facets of tetrahedra from `cursor` on are left to these.
  attempt prepare(index t, index cursor, point& point);

  triangulation& mesh_;
  const quality_rule& rule_;
  pass pass_;
  cavity hole_{};
};

}  // namespace mesh3d
