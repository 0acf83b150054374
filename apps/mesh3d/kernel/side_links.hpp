// SPDX-License-Identifier: Apache-2.0
// Whether the boundary between both sides is a surface at an edge or a vertex.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernel/triangulation.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

/// The sides of all tetrahedra by index: 1 inside, 0 outside or not in use.
using side_list = std::vector<std::uint8_t>;

/// The tetrahedra around an edge, in the order in which they follow each other.
struct edge_fan {
  std::array<index, 2> edge{};
  std::vector<index> tetrahedra{};
  std::array<facet, 2> hull{none, none};  // of the hull, before the first and behind the last; none around a whole turn
};

/// Looks at the tetrahedra around edges and vertices: the boundary between both sides is a surface where it has two
/// triangles or none at each edge, and where its triangles at each vertex are one turn (Cheng, Dey, Ramos and Ray
/// 2007). A subdomain sees a part of that at its hull. There it goes by what all subdomains at a facet of the hull can
/// tell, the side of the middle of the facet's circle: between two such facets at an edge its own part changes sides
/// once where theirs differ, else never, so that all parts together change twice or never. Only the one subdomain that
/// has the nearest place of the surface may change twice: it has a part of the surface that comes near to the face and
/// does not cross it. `mesh`, `inner` and `surface` outlive it.
class side_links {
 public:
  side_links(const triangulation& mesh, const side_list& inner, const triangle_tree& surface)
      : mesh_(mesh), inner_(inner), surface_(surface) {}

  /// To be called when the mesh has changed.
  void forget_hull() { hull_.clear(); }

  /// The fan of an edge of the tetrahedron `t`.
  [[nodiscard]] edge_fan fan(std::array<index, 2> edge, index t) const;
  /// The tetrahedra that have the vertex; `t` has it.
  [[nodiscard]] std::vector<index> star(index vertex, index t);
  /// Each part of the star that is on one side, and that has no facet of the hull on that side. Those at the hull are
  /// empty lists.
  [[nodiscard]] std::vector<std::vector<index>> parts(index vertex, index t);

  /// The side of a facet of the hull, as all that share it tell it.
  [[nodiscard]] std::uint8_t side_of_hull(facet f);
  /// By how many turns of triangles, or by how many pairs of triangles, there are too many; 0 where all is well.
  [[nodiscard]] unsigned excess(const edge_fan& fan);
  [[nodiscard]] unsigned excess(index vertex, index t);

 private:
  /// Whether a part of the surface that does not cross the face may have triangles at this place of the face.
  [[nodiscard]] bool may_touch(const point& point) const;
  struct hull_edge {
    index other;   // end than the vertex
    unsigned set;  // of the facet
    std::uint8_t side;
  };
  void collect(index vertex, index t);
  unsigned find(unsigned set);
  void join_hull(index vertex, facet f, unsigned set);
  void join_sides(index vertex, index t);

  const triangulation& mesh_;
  const side_list& inner_;
  const triangle_tree& surface_;
  std::unordered_map<facet, std::uint8_t> hull_{};  // sides
  std::vector<index> star_{};
  std::vector<unsigned> place_{};  // of tetrahedra in the star, from 1 on; 0 between two calls
  std::vector<unsigned> sets_{};   // of the star's tetrahedra, then of the hull's facets: a forest
  std::vector<hull_edge> waiting_{};
  unsigned turns_ = 0;  // of sides, around the vertex on the hull
};

}  // namespace mesh3d
