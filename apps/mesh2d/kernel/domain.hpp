// SPDX-License-Identifier: Apache-2.0
// From the input to a constrained Delaunay triangulation of its domain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input/pslg.hpp"
#include "kernel/constrain.hpp"
#include "kernel/triangulation.hpp"
#include "meshing/exact_sum.hpp"

namespace mesh2d {

/// The least height of triangles as a part of the largest coordinate, 1024 times the distance of doubles there.
inline constexpr double resolution = 0x1p-42;

struct region_rule {
  double attribute = 0;
  double area_max = 0;  // of a triangle; 0: no bound
  template <class Archive>
  void serialize(Archive& ar) {
    ar(attribute, area_max);
  }
};

/// Two segments that meet at a corner at a very small angle.
struct wedge {
  static constexpr double degrees_max = 5;
  std::uint32_t first = none, second = none;  // segments, the lower one first
  index corner = none;
  auto operator<=>(const wedge&) const = default;
};

/// The triangulated domain. Vertices are points of the input, and have their names as corners.
struct domain {
  triangulation mesh;
  side_names names;                    // of constrained sides: positions of segments in the input
  std::vector<region_rule> regions{};  // by the number that triangles have; the first one is everywhere else
  std::vector<point> points{};         // of the input, after those that lie together have been merged
  std::vector<std::string> notes{};    // what was mended in the input, a line for a person each
  meshing::exact_sum twice_area{};
  std::vector<wedge> wedges{};             // sorted
  std::vector<std::uint8_t> incomplete{};  // by segment: 1 if another one covers it, or it is outside, in part at least
};

/// Throws nacre::setup_error, with the line of the input, for an input that has no mesh.
domain make_domain(const pslg& input);

/// Makes a vertex for each fan of triangles, where several meet at one vertex. `mesh` has triangles with neighbours,
/// and every vertex has its corner.
void separate_fans(triangulation& mesh);

/// Removes triangles for which `keep` has 0, and vertices that no triangle has. Neighbours and flags stay.
void keep_only(triangulation& mesh, const std::vector<std::uint8_t>& keep);

}  // namespace mesh2d
