// SPDX-License-Identifier: Apache-2.0
// Checks that a subdomain is a valid mesh, without trust in what has made it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/deviation.hpp"
#include "kernel/refiner.hpp"
#include "kernel/triangulation.hpp"
#include "plan/octree.hpp"
#include "surface/euler_numbers.hpp"

namespace mesh3d {

/// Numbers of dihedral angles, by 5 degrees.
using angle_histogram = std::array<std::uint64_t, 36>;
void add_angles(const std::array<point, 4>& corner, angle_histogram& angle_histogram) noexcept;

/// How well the triangles between inside and outside, the boundary of the mesh, show the input surface.
struct surface_findings {
  /// Distances by the length that edges should have there: no place of the boundary is further from the surface than
  /// the first one, which corners near to faces of subdomains need, and no place of the surface from the boundary than
  /// the second one.
  static constexpr double to_surface_bound = 0.75, from_surface_bound = 0.6;
  /// The inner volume differs from that within the surface by no more than the first part of the boundary's area times
  /// the length that edges should have there, and by no more than the second part of that volume.
  static constexpr double volume_by_area = 0.05, volume_by_volume = 0.05;

  std::uint64_t inner_tetrahedra = 0, triangles = 0;
  std::uint64_t turned = 0;                    // tetrahedra on the other side than that of their centres
  std::uint64_t corners = 0, corners_off = 0;  // of triangles; those that are not on the surface
  double inner_volume = 0, area = 0, volume_tolerance = 0;
  deviation to_surface{}, from_surface{};  // of the boundary from the surface, and of the surface from the boundary
  surface_counts counts{}, wanted{};       // of the boundary, and of the surface; from judge_surface

  void merge(const surface_findings& other);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(inner_tetrahedra, triangles, turned, corners, corners_off, inner_volume, area, volume_tolerance, to_surface,
       from_surface);
  }
};

/// Results of subdomains are added up by `merge`.
struct findings {
  static constexpr std::size_t listed_max = 20;  // faults with their texts; the rest is counted

  std::uint64_t tetrahedra = 0, faults = 0;
  std::uint64_t refused = 0;  // tetrahedra that miss a bound, since a point would come too near to the hull
  std::uint64_t facets_shared = 0, facets_of_domain = 0;
  angle_histogram dihedrals{};
  angle_histogram unsplit{};                  // before slivers were split, if they were
  double degrees_min = 180, degrees_max = 0;  // of dihedral angles
  double ratio_max = 0;                       // of a sphere's radius to the shortest edge
  double radius_max = 0;                      // of a sphere, by the length that edges should have there
  double volume = 0;
  std::vector<std::string> fault_texts{};
  surface_findings surface{};

  void fault(std::string text);
  void merge(const findings& other);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tetrahedra, faults, refused, facets_shared, facets_of_domain, dihedrals, unsplit, degrees_min, degrees_max,
       ratio_max, radius_max, volume, fault_texts, surface);
  }
};

/// A triangle of a face: its corners in the order of their coordinates, by which both sides name it.
struct shared_triangle {
  std::array<point, 3> corner{};
  std::uint8_t inner = 0;  // the side of the tetrahedron that has it
  auto operator<=>(const shared_triangle&) const = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(corner, inner);
  }
};

/// Verifies one subdomain by exact predicates: every tetrahedron has a positive volume and agrees with its neighbours
/// on the facets between them, every facet is Delaunay, the smallest spheres around
/// facets of the hull hold no vertex, and the hull covers the leaf's faces exactly. Tetrahedra that
/// miss a bound are faults, unless the point that would mend them is refused.
findings check_leaf(triangulation& mesh, const leaf_plan& leaf, const quality_rule& rule);

/// The triangles of the hull that lie in a face of the leaf, sorted. `inner`: sides by tetrahedron, or empty.
std::vector<std::vector<shared_triangle>> hull_triangles(const triangulation& mesh, const leaf_plan& leaf,
                                                         const std::vector<std::uint8_t>& inner = {});

}  // namespace mesh3d
