// SPDX-License-Identifier: Apache-2.0
// A subdomain: its mesh, and the pieces of segments and interfaces that it must keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernel/domain.hpp"
#include "kernel/triangulation.hpp"

namespace mesh2d {

/// A stretch of an input segment or of an interface between two subdomains. It is split at halves of halves only, so a
/// fraction names a point exactly: everybody computes one point for it, bit for bit.
struct piece {
  point from_at{}, to_at{};
  index from = none, to = none;    // vertices of the part
  std::uint32_t name = none;       // in all parts
  std::uint32_t neighbour = none;  // the part on the other side, if there is one
  std::uint32_t segment = none;    // of the input; none for an interface
  index shielded = none;           // the end (`from` or `to`) at which constrained sides meet at a small angle

  [[nodiscard]] point at(index fraction) const noexcept {
    const double t = static_cast<double>(fraction) / whole_fraction;
    const auto mix = [t](double a, double b) {
      return kept_in_range(t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t));
    };
    return {mix(from_at.x, to_at.x), mix(from_at.y, to_at.y)};
  }
};

/// A split of a piece by its name and the place.
struct piece_split {
  std::uint32_t piece = none;
  index fraction = none;
  auto operator<=>(const piece_split&) const = default;
};

/// A vertex on a piece.
struct chain_vertex {
  index fraction = none, vertex = none;
  bool operator==(const chain_vertex&) const = default;
};

/// How far the refinement has come.
struct refine_state {
  bool begun = false;
  index cursor = 0;  // triangles before it are good, but for those in `again`
  std::vector<index> again{};
  std::vector<std::pair<index, index>> to_split{};               // sides, by their vertices
  std::vector<std::pair<std::uint32_t, piece_split>> to_tell{};  // splits of interfaces, with the neighbour
  template <class Archive>
  void serialize(Archive& ar) {
    ar(begun, cursor, again, to_split, to_tell);
  }
};

struct part {
  /// The names of sides have 32 bits, of which a triangle takes 4; half of them are left for one more slice.
  static constexpr std::size_t triangles_max = std::size_t{1} << 29;
  /// The least height of triangles as a part of the longest piece, 4 times the distance of its fractions.
  static constexpr double piece_resolution = 0x1p-29;

  triangulation mesh{};
  std::vector<piece> pieces{};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> whole_pieces{};  // by vertices of the ends, sorted
  std::vector<std::vector<chain_vertex>> chains{};  // by piece, ordered by fraction; kept for interfaces only
  std::vector<std::pair<std::uint32_t, std::uint32_t>> piece_by_name{};  // sorted; positions in `pieces`
  std::vector<wedge> wedges{};                                           // of two segments of the part, sorted
  refine_state state{};

  /// The piece of a constrained side. None if the side is not part of any.
  [[nodiscard]] std::uint32_t piece_of(side s) const noexcept;
  /// The piece between two corners that is one side still, or was one; none if there is no such piece.
  [[nodiscard]] std::uint32_t whole_piece(index a, index b) const noexcept;
  /// The place of a vertex on a piece that it belongs to.
  [[nodiscard]] index fraction_of(index v, const piece& piece) const noexcept {
    return v == piece.from ? 0 : v == piece.to ? whole_fraction : mesh.vertices[v].fraction;
  }
  /// Whether the side between two vertices is the base of a triangle at a small angle between constrained sides: both
  /// have one distance from the corner, which is longer than the side. Such a side cannot be avoided.
  [[nodiscard]] bool spans_small_angle(index a, index b) const noexcept;
  /// For a side that spans_small_angle: whether the angle is at least 20 degrees, and `other` is no side at its corner
  /// that is as near as `base`. Then `other` may be split on account of a triangle over `base`: the sides next to the
  /// corner stay as they are.
  [[nodiscard]] bool outside_shield(side base, side other) const noexcept;
  /// Whether a constrained side leads away from a small angle and is longer than the way from there to its first end.
  /// Then a split of it makes triangles at the small angle better, and cannot be the first of many.
  [[nodiscard]] bool longer_than_shielded(side s) const noexcept;
  /// Whether all three vertices lie on the two segments of a wedge, where no angle can be much larger than the wedge's.
  [[nodiscard]] bool fills_wedge(index t) const noexcept;
  /// Whether the vertex opposite to a constrained side lies on the other segment of a wedge.
  [[nodiscard]] bool faces_wedge(side s) const noexcept;

  /// The least height of triangles that are refined: below it, points that should differ may coincide.
  [[nodiscard]] double height_min() const noexcept;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(mesh, pieces, whole_pieces, chains, piece_by_name, wedges, state);
  }

 private:
  [[nodiscard]] std::uint32_t segment_of(index v) const noexcept;
  [[nodiscard]] const wedge* find_wedge(std::uint32_t a, std::uint32_t b) const noexcept;
};

/// Lists the wedges of the domain. Its constrained sides all belong to segments.
void find_wedges(domain& whole);

/// Splits constrained sides near each corner at which two of them meet at less than 60 degrees: all at one distance
/// from it. Splits at halves then keep in step around the corner, so that no two sides split each other for ever
/// (Ruppert's concentric shells).
void shield_small_angles(domain& whole);

/// Cuts a mesh into parts: `part_of_triangle` has a number below `count` for each. Constrained sides, and those between
/// parts, become pieces.
std::vector<part> cut_into_parts(domain& whole, const std::vector<std::uint32_t>& part_of_triangle,
                                 std::uint32_t count);

}  // namespace mesh2d
