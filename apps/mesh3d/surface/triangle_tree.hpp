// SPDX-License-Identifier: Apache-2.0
// A tree of boxes over the triangles of a surface: distances, crossings, in and out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "geometry/point.hpp"
#include "surface/oriented_box.hpp"
#include "surface/surface_mesh.hpp"

namespace mesh3d {

/// The point of a triangle that is nearest to `p`. The triangle may be flat.
point nearest_on_triangle(const point& p, const std::array<point, 3>& corner) noexcept;

/// Whether the closed segment meets the closed triangle, by exact predicates; false where the segment lies in the
/// triangle's plane.
bool meets(const point& source, const point& target, const std::array<point, 3>& corner) noexcept;

/// Answers depend on the surface and the question only, so all ranks and subdomains get the same ones. Coordinates are
/// within the bounds of geometry/point.hpp. Queries are const and may run at the same time.
class triangle_tree {
 public:
  triangle_tree() = default;
  /// `lengths`: one for each triangle, by which length_near goes. The surface must outlive the tree.
  triangle_tree(const surface_mesh& mesh, std::vector<double> lengths);

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }

  [[nodiscard]] std::array<point, 3> corners(std::uint32_t t) const noexcept { return mesh_->corners(t); }

  /// Whether a ray from `p` meets the closed surface an odd number of times: exact, since the ray is moved aside by an
  /// infinitely small amount. `counts` leaves triangles out when it is not null.
  [[nodiscard]] bool inside(const point& p, const std::function<bool(std::uint32_t)>& counts = nullptr) const;

  /// The first point of the segment that is on the surface, but for rounding.
  [[nodiscard]] std::optional<point> first_crossing(const point& source, const point& target) const;

  /// The nearest point of the surface that is no further than `distance_max`.
  [[nodiscard]] std::optional<point> nearest(const point& p, double distance_max) const;

  /// The least of `most` and all triangles' length * factor + growth * distance, within 20 % or so: triangles that
  /// hardly differ are taken together.
  [[nodiscard]] double length_near(const point& p, double factor, double growth, double most) const noexcept;

  /// Calls `see` for triangles that have neither end of an edge, as a corner, and that are near to it, among them all
  /// that meet it, until it returns false. Returns the number of boxes that were looked at.
  std::size_t for_each_near(const std::array<std::uint32_t, 2>& edge,
                            const std::function<bool(std::uint32_t)>& see) const;

  /// Calls `see` for each triangle whose box meets the closed box from `low` to `high`, until it returns false.
  void for_each_in(const point& low, const point& high, const std::function<bool(std::uint32_t)>& see) const;

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  struct node {
    point low{}, high{};
    double length_min = 0, length_max = 0;
    std::uint32_t first = 0;  // of the triangles of a leaf; the second child of an inner node, whose first one is next
    std::uint32_t count = 0;  // of triangles; 0 for an inner node
    std::uint32_t common = nothing;  // a point that all triangles have as a corner
    std::uint32_t turned = nothing;  // the box that is turned as they are, where it is far smaller
  };
  static constexpr std::size_t depth_max = 64;
  void build(std::uint32_t begin, std::uint32_t end);
  [[nodiscard]] node bounds(std::uint32_t begin, std::uint32_t end);
  /// At most the squared distance from the triangles of a node; no better a bound than that it is above `counts`.
  [[nodiscard]] double square_to(const node& node, const point& p, double counts) const noexcept;
  /// Whether a part of a line, as in surface/oriented_box.hpp, meets the boxes of a node.
  [[nodiscard]] bool line_meets_node(const node& node, const point& position, const point& way,
                                     double leave) const noexcept;
  /// Calls `enter(node)` from the root on, and `leaf(triangle)` for the triangles of the leaves that it admits.
  template <class Enter, class Leaf>
  void walk(Enter enter, Leaf leaf) const;
  /// Takes the node first whose `bound(node)` is less; leaves out nodes for which `skip(node, bound)`.
  template <class Bound, class Skip, class Leaf>
  void walk_nearest_first(Bound bound, Skip skip, Leaf leaf) const;

  const surface_mesh* mesh_ = nullptr;
  std::vector<double> lengths_{};
  std::vector<std::uint32_t> order_{};  // triangles
  std::vector<node> nodes_{};
  std::vector<oriented_box> turned_{};
};

}  // namespace mesh3d
