// SPDX-License-Identifier: Apache-2.0
// A closed surface within the unit cube, with the lengths that edges should have near to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "surface/surface_mesh.hpp"
#include "surface/triangle_tree.hpp"

namespace mesh3d {

/// Where the unit cube is in the space of the file. It is turned, since the planes of a machine part would else be
/// parallel to the faces of subdomains, near which the surface is captured less well.
struct placement {
  point centre{0.5, 0.5, 0.5};  // in the units of the file
  double scale = 1;             // lengths in the cube by lengths in the file
  /// The cube's axes in the space of the file: of length 1 and perpendicular, but for rounding.
  static constexpr point axis_x{0.8021687875529128, 0.4512199429985134, 0.391057283932045};
  static constexpr point axis_y{-0.5639724101176329, 0.7876689194700014, 0.24801772905796332};

  [[nodiscard]] point into_cube(const point& p) const noexcept {
    const point from_centre = p - centre;
    const point turned{dot(axis_x, from_centre), dot(axis_y, from_centre), dot(cross(axis_x, axis_y), from_centre)};
    return turned * scale + point{0.5, 0.5, 0.5};
  }
  [[nodiscard]] point out_of_cube(const point& p) const noexcept {
    const point turned = (p - point{0.5, 0.5, 0.5}) * (1 / scale);
    return axis_x * turned.x + axis_y * turned.y + cross(axis_x, axis_y) * turned.z + centre;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(centre.x, centre.y, centre.z, scale);
  }
};

/// Which lengths a surface asks for.
struct surface_rule {
  double margin = 0.1;       // between the surface and the cube
  double length_max = 0.1;   // of edges at the surface
  double edges_a_turn = 24;  // around a circle that curves like the surface; 0: curvature does not matter
  double growth = 0.3;       // of lengths for each unit of distance from the surface
};

/// What a rank knows of the surface. Rank 0 makes it and all others get a copy.
struct placed_surface {
  surface_mesh mesh{};            // in the unit cube, closed, all triangles of a component facing one way
  std::vector<double> lengths{};  // of triangles: of edges near to them
  double growth = 0.3;
  placement place{};
  std::uint32_t components = 0;
  double volume = 0;  // enclosed, in the unit cube: space in an odd number of components
  double area = 0;
  std::vector<std::string> notes{};  // on what was mended

  template <class Archive>
  void serialize(Archive& ar) {
    ar(mesh, lengths, growth, place, components, volume, area, notes);
  }
};

/// A surface that can be asked. Neither copied nor moved, since the tree refers to the triangles.
class surface_in_cube {
 public:
  explicit surface_in_cube(placed_surface&& placed_surface)
      : surface_(std::move(placed_surface)), tree_(surface_.mesh, surface_.lengths) {}
  surface_in_cube(const surface_in_cube&) = delete;
  surface_in_cube& operator=(const surface_in_cube&) = delete;
  [[nodiscard]] const placed_surface& of() const noexcept { return surface_; }
  [[nodiscard]] const triangle_tree& tree() const noexcept { return tree_; }

 private:
  placed_surface surface_;
  triangle_tree tree_;
};

/// Places the surface in the middle of the cube, merges points at one place, and makes all triangles of a component
/// face one way. Throws nacre::setup_error, which names a place, for a surface that is empty, flat, open, not
/// orientable, that crosses itself or has edges of more than two triangles. `name` is for messages.
placed_surface place_surface(surface_mesh mesh, const surface_rule& rule, const std::string& name);

}  // namespace mesh3d
