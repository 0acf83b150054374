// SPDX-License-Identifier: Apache-2.0
// A mesh of tetrahedra in flat arrays: tetrahedra, their neighbours, vertices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/point.hpp"
#include "geometry/predicates.hpp"

namespace mesh3d {

using index = std::uint32_t;
inline constexpr index none = ~index{0};

/// A facet of a tetrahedron: 4 times the tetrahedron's index, and the position of the corner opposite to the facet. The
/// facet of the neighbour across is its twin.
using facet = std::uint32_t;

inline index tetrahedron_of(facet f) noexcept { return f >> 2; }
inline facet facet_of(index t, unsigned position) noexcept { return (t << 2) | position; }

/// The corners of the facet at each position, such that the opposite corner is on their positive side.
inline constexpr std::array<std::array<std::uint8_t, 3>, 4> facet_corners{{{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}}};

struct tetrahedron {
  std::array<index, 4> corner{none, none, none, none};  // vertices, with a positive orient; none: not in use
  std::array<facet, 4> twin{none, none, none, none};    // of the facet opposite to each; none at the hull
};
static_assert(sizeof(tetrahedron) == 32);  // for the sake of what a tetrahedron takes at rest

/// The Delaunay triangulation of points in a box, whose corners are among them; in_perturbed_sphere decides ties.
struct triangulation {
  static constexpr std::size_t tetrahedra_max = std::size_t{1} << 30;  // facets have 32 bits

  std::vector<point> vertices{};
  std::vector<tetrahedron> tetrahedra{};
  std::vector<index> unused{};  // tetrahedra

  [[nodiscard]] const point& at(index v) const noexcept { return vertices[v]; }
  [[nodiscard]] bool in_use(index t) const noexcept { return tetrahedra[t].corner[0] != none; }
  [[nodiscard]] std::size_t count() const noexcept { return tetrahedra.size() - unused.size(); }
  [[nodiscard]] std::array<index, 3> corners(facet f) const noexcept {
    const auto& corner = tetrahedra[tetrahedron_of(f)].corner;
    const auto& [a, b, c] = facet_corners[f & 3];
    return {corner[a], corner[b], corner[c]};
  }
  [[nodiscard]] facet twin(facet f) const noexcept { return tetrahedra[tetrahedron_of(f)].twin[f & 3]; }
  /// Positive when `p` is on the side of the facet's own tetrahedron.
  [[nodiscard]] double side(facet f, const point& p) const noexcept {
    const auto [a, b, c] = corners(f);
    return orient(at(a), at(b), at(c), p);
  }
  [[nodiscard]] bool conflicts(index t, const point& p) const noexcept {
    const auto& [a, b, c, d] = tetrahedra[t].corner;
    return in_perturbed_sphere(at(a), at(b), at(c), at(d), p) > 0;
  }

  /// The tetrahedron that holds `p`, which lies in the box, by a walk that begins at `source`.
  [[nodiscard]] index find(const point& p, index source) const noexcept;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(vertices, tetrahedra, unused);
  }
};

/// The eight corners of a box; the first vertices. Bit 0 of a corner's number is its x, bit 1 its y, bit 2 its z.
triangulation triangulate_box(const point& low, const point& high);

}  // namespace mesh3d
