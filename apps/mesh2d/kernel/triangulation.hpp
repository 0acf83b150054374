// SPDX-License-Identifier: Apache-2.0
// A triangulation in flat arrays: triangles, their neighbours, vertices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "geometry/point.hpp"

namespace mesh2d {

using index = std::uint32_t;
inline constexpr index none = ~index{0};

/// A side of a triangle: 4 times the triangle's index, and the position of the vertex opposite to the side. Sides run
/// counterclockwise around their triangle; the side of the neighbour across is its twin.
using side = std::uint32_t;

inline index triangle_of(side s) noexcept { return s >> 2; }
inline side side_of(index triangle, unsigned position) noexcept { return (triangle << 2) | position; }
inline side next(side s) noexcept { return (s & 3) == 2 ? s - 2 : s + 1; }
inline side previous(side s) noexcept { return (s & 3) == 0 ? s + 2 : s - 1; }

/// The lengths of pieces are divided into so many steps; a vertex on a piece names its place by one of them.
inline constexpr index whole_fraction = index{1} << 31;

/// Vertices are ends of pieces (corners), or lie on a piece elsewhere, or are free.
struct vertex {
  static constexpr index segment_mark = index{1} << 31;

  point position{};
  index place = none;  // its piece, if it is no end of it; of a corner: segment_mark and a segment that it lies within
  index fraction = none;  // on a piece: steps from its beginning; of a corner: the vertex whose small angle it shields
  index triangle = none;  // one that has this vertex
  index corner = none;    // the name of a corner in all parts

  [[nodiscard]] bool on_piece() const noexcept { return place < segment_mark; }
  /// The segment that a corner lies within, none for the end of a segment and for a free vertex.
  [[nodiscard]] index segment_of_corner() const noexcept {
    return place < segment_mark || place == none ? none : place & ~segment_mark;
  }
};

struct triangle {
  std::array<index, 3> corner{none, none, none};  // vertices, counterclockwise
  std::array<side, 3> twin{none, none, none};     // of the side opposite to each; none at the boundary
  std::uint32_t flags = 0;                        // bits 0 to 2: the side is constrained; bit 3: in a cavity
  std::uint32_t region = 0;
};
static_assert(sizeof(triangle) == 32 && sizeof(vertex) == 32);  // for the sake of what a triangle takes at rest

/// Vertices and triangles. A vertex has one fan of triangles, which is closed inside of the domain and open at its
/// boundary; places at which the boundary touches itself have a vertex for each fan.
struct triangulation {
  std::vector<vertex> vertices;
  std::vector<triangle> triangles;

  [[nodiscard]] index origin(side s) const noexcept { return triangles[triangle_of(s)].corner[next(s) & 3]; }
  [[nodiscard]] index target(side s) const noexcept { return triangles[triangle_of(s)].corner[previous(s) & 3]; }
  [[nodiscard]] index apex(side s) const noexcept { return triangles[triangle_of(s)].corner[s & 3]; }
  [[nodiscard]] side twin(side s) const noexcept { return triangles[triangle_of(s)].twin[s & 3]; }
  [[nodiscard]] bool constrained(side s) const noexcept {
    return ((triangles[triangle_of(s)].flags >> (s & 3)) & 1) != 0;
  }
  [[nodiscard]] const point& at(index v) const noexcept { return vertices[v].position; }

  index add_vertex(const point& point);
  /// Appends a triangle without neighbours.
  index add_triangle(index a, index b, index c, std::uint32_t region);
  /// Makes two sides each other's twins; either may be `none`.
  void join(side a, side b) noexcept;
  /// Constrains a side and its twin.
  void constrain(side s) noexcept;
  void release(side s) noexcept;

  /// Replaces a triangle by three around the new vertex `v`, which lies inside of it.
  void split_triangle(index t, index v);
  /// Replaces the one or two triangles at a side by two or four; `v` lies on the side. Both halves are constrained when
  /// the side is.
  void split_side(side s, index v);
  /// Replaces the diagonal of a strictly convex quadrilateral by the other one. The apex of `s` is the first vertex of
  /// both triangles afterwards.
  void flip(side s) noexcept;
  /// Flips until every side around the newly inserted `v` is Delaunay or constrained.
  void legalise_around(index v);
  /// After legalise_around, for a vertex that lies beside the side that it has split, by a rounding: flips until the
  /// sides that lead to it are Delaunay, too. Returns the triangles that have changed.
  std::vector<index> legalise_spokes(index v);
  /// Flips until the given sides, by their vertices, and all that flips touch are Delaunay or constrained. Returns the
  /// triangles that have changed.
  std::vector<index> legalise(std::vector<std::pair<index, index>> sides);

  /// The side from `a` to `b`, none if there is none.
  [[nodiscard]] side find_side(index a, index b) const noexcept;
  /// The side opposite to a vertex in its triangle `t`.
  [[nodiscard]] side opposite(index t, index v) const noexcept {
    const auto& corner = triangles[t].corner;
    return side_of(t, corner[0] == v ? 0 : corner[1] == v ? 1 : 2);
  }
  /// The first triangle of the vertex's fan in counterclockwise order, when the fan is open; else any of them.
  [[nodiscard]] index first_of_fan(index v) const noexcept;

  /// Calls `visit` with the sides opposite to `v` in all triangles of its fan, counterclockwise.
  template <class Visit>
  void for_fan(index v, Visit visit) const {
    const index first = first_of_fan(v);
    for (index t = first; t != none;) {
      const side s = opposite(t, v);
      visit(s);
      const side across = twin(next(s));  // past the side that leads to v
      t = across == none ? none : triangle_of(across);
      if (t == first) return;
    }
  }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(vertices, triangles);
  }

 private:
  struct border {  // what is beyond a side, to be put behind another side
    side beyond;
    bool is_constrained;
  };
  [[nodiscard]] border border_of(side s) const noexcept { return {twin(s), constrained(s)}; }
  void set(index t, std::array<index, 3> corners, std::array<border, 3> borders) noexcept;
};

/// Twice the area, never negative for a triangle of a valid mesh; with rounding.
double twice_area(const triangulation& mesh, index t) noexcept;

}  // namespace mesh2d
