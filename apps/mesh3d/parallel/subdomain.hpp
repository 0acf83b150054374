// SPDX-License-Identifier: Apache-2.0
// A subdomain as a mobile object.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/nacre.hpp>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"
#include "kernel/side_mender.hpp"
#include "kernel/surface_check.hpp"
#include "meshing/rank_clock.hpp"
#include "options.hpp"
#include "plan/octree.hpp"

namespace mesh3d {

/// A mesh for files, in flat arrays.
struct mesh_copy {
  std::vector<point> points{};
  std::vector<std::uint8_t> on_hull{};  // of the subdomain: other subdomains may have the point, too
  std::vector<std::array<std::uint32_t, 4>> tetrahedra{};
  side_list inner{};  // of tetrahedra
  std::uint32_t rank = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points, on_hull, tetrahedra, inner, rank);
  }
};

struct subdomain_counts {
  std::uint64_t tetrahedra = 0, vertices = 0, bytes = 0;
  std::uint64_t inner = 0;  // tetrahedra within the surface
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tetrahedra, vertices, bytes, inner);
  }
  static subdomain_counts sum(const subdomain_counts& a, const subdomain_counts& b);
};

/// What a subdomain has cost.
struct subdomain_cost {
  double seconds = 0;
  std::uint64_t tetrahedra = 0, bytes = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, tetrahedra, bytes);
  }
};

/// The input surface as a rank knows it, null where the whole cube is meshed; during the check also the boundary of the
/// mesh.
struct rank_surface {
  std::shared_ptr<const surface_in_cube> known{}, boundary{};
};

struct subdomain_groups {
  nacre::group_ptr<meshing::rank_clock> clocks{};
  nacre::group_ptr<rank_surface> surfaces{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(clocks, surfaces);
  }
};

/// Triangulates the points on its surface, then refines its interior in slices, each a message to itself. It needs no
/// word from its neighbours.
class subdomain {
 public:
  using array = nacre::array_ptr<subdomain>;

  void begin(nacre::context& ctx, const array& all, const subdomain_groups& groups, leaf_plan leaf,
             const quality_rule& rule, double expected);
  void go_on(nacre::context& ctx);

  /// Checks the mesh, and sends each neighbour the triangles of the faces between them.
  void check(nacre::context& ctx);
  void compare(nacre::context& ctx, std::uint32_t neighbour, const std::vector<std::vector<shared_triangle>>& theirs);
  /// The triangles between inside and outside, after all messages of `check` have arrived. Of two sides of a face the
  /// inner one has them.
  [[nodiscard]] std::vector<std::array<point, 3>> boundary() const { return boundary_; }
  /// Measures how far the part of the surface in this box is from the boundary that the rank knows.
  void measure_surface(nacre::context& ctx);
  /// After all messages of `check` have arrived.
  [[nodiscard]] findings found() const;

  [[nodiscard]] subdomain_counts counts() const;
  [[nodiscard]] subdomain_cost cost() const;
  [[nodiscard]] mesh_copy copy(nacre::context& ctx, sides keep) const;
  /// For balancers: the tetrahedra that are still to come.
  [[nodiscard]] double load() const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, groups_, rule_, leaf_, expected_, seconds_, stage_, state_, mending_, unsplit_, mesh_, inner_, turned_,
       compared_, hull_, boundary_, findings_);
  }

 private:
  enum class stage : std::uint8_t { empty, planned, meshed, refined, split, told, done };
  /// Begins the stage after the one that is over.
  void end_stage();
  /// Points the rule to the surface of this rank, since the rule does not bring it along when it moves.
  void find_surface(nacre::context& ctx);
  void tell_sides();
  void mend_sides();
  [[nodiscard]] std::vector<std::uint32_t> neighbours() const;
  /// The triangles of the faces that are shared with a neighbour.
  [[nodiscard]] std::vector<std::vector<shared_triangle>> shared_with(std::uint32_t neighbour);

  array all_{};
  subdomain_groups groups_{};
  quality_rule rule_{};
  leaf_plan leaf_{};
  double expected_ = 0, seconds_ = 0;
  stage stage_ = stage::empty;
  refine_state state_{};
  mend_state mending_{};
  angle_histogram unsplit_{};  // dihedral angles before slivers were split
  triangulation mesh_{};
  side_list inner_{};                                 // of tetrahedra; empty without a surface
  std::vector<index> turned_{};                       // tetrahedra not on the side of their centres, sorted
  std::uint32_t compared_ = 0;                        // neighbours whose triangles have been compared
  std::vector<std::vector<shared_triangle>> hull_{};  // by face, for the check
  std::vector<std::array<point, 3>> boundary_{};
  findings findings_{};
};

}  // namespace mesh3d
