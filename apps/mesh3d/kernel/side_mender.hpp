// SPDX-License-Identifier: Apache-2.0
// Makes the boundary between both sides a surface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/refiner.hpp"
#include "kernel/side_links.hpp"

namespace mesh3d {

/// How far the mending has come.
struct mend_state {
  index cursor = 0;          // tetrahedra before it have been looked at
  bool inserts = true;       // else it turns sides
  bool changed = false;      // since the cursor was at the beginning
  bool finds_bad = false;    // likewise: there is a place where the boundary is no surface
  std::uint32_t rounds = 0;  // in which points were inserted
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cursor, inserts, changed, finds_bad, rounds);
  }
};

/// Looks for edges and vertices where the boundary is no surface. First it inserts points on the input surface there,
/// as long as they keep their distances: the mesh is to be refined again then, and the sides are to be told anew. Where
/// none does, which is near to the hull in most cases, it turns some tetrahedra over to the other side, as few and
/// small ones as will do.
class side_mender {
 public:
  enum class progress : std::uint8_t { more, done, inserted };
  static constexpr std::uint32_t rounds_max = 6;

  /// `inner`: the sides of all tetrahedra. `turned`: those that are not on the side that their centre gives, sorted.
  side_mender(triangulation& mesh, const quality_rule& rule, side_list& inner, std::vector<index>& turned);
  /// Looks at `looks` tetrahedra at most.
  progress mend(mend_state& state, std::size_t looks);

 private:
  using list = std::vector<index>;
  [[nodiscard]] bool is_boundary(facet f);
  void look(index t, mend_state& state);
  [[nodiscard]] bool insert(const list& list, const std::vector<index>& indexes);
  [[nodiscard]] bool turn(const std::vector<list>& choices);
  void turn(const list& tetrahedra);
  [[nodiscard]] unsigned excess_around(const list& tetrahedra);
  [[nodiscard]] double volume(const list& tetrahedra) const;
  [[nodiscard]] bool mend_edge(const edge_fan& fan, bool inserts);
  [[nodiscard]] bool mend_vertex(index vertex, index t, bool inserts);

  triangulation& mesh_;
  const quality_rule& rule_;
  side_list& inner_;
  std::vector<index>& turned_;
  refiner points_;
  side_links links_;
  std::vector<bool> seen_{};  // vertices
};

}  // namespace mesh3d
