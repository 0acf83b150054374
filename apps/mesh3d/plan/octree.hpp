// SPDX-License-Identifier: Apache-2.0
// The decomposition of the unit cube: an octree whose leaves are the subdomains.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "geometry/point.hpp"

namespace mesh3d {

/// Places in the octree are whole numbers, so that all subdomains agree on them.
using place = std::array<std::uint32_t, 3>;
inline constexpr unsigned depth_max = 16;
inline constexpr std::uint32_t cube_size = 1u << depth_max;

inline double to_length(std::uint32_t size) noexcept { return static_cast<double>(size) / cube_size; }
inline point to_point(const place& position) noexcept {
  return {to_length(position[0]), to_length(position[1]), to_length(position[2])};
}

struct cube {
  place low{};
  std::uint32_t size = cube_size;
  auto operator<=>(const cube&) const = default;
};

/// A stretch of an edge at which no leaf has a corner but at the ends.
struct cube_edge {
  place low{};
  std::uint32_t size = 0;
  std::uint32_t axis = 0;  // along which it runs
  auto operator<=>(const cube_edge&) const = default;
};

/// A whole face of the smaller one of the two leaves beside it, or of a leaf at the boundary of the domain.
struct cube_face {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  place low{};
  std::uint32_t size = 0;
  std::uint32_t axis = 0;            // to which it is perpendicular
  std::uint32_t neighbour = nobody;  // the leaf on the other side
  auto operator<=>(const cube_face&) const = default;
};

/// A subdomain as its neighbours know it.
struct leaf_plan {
  cube box{};
  std::uint32_t number = 0;
  std::vector<cube_face> faces{};
  std::vector<cube_edge> edges{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(box, number, faces, edges);
  }
};

/// The four sides of a face as stretches of that length; leaves may have corners within them.
std::array<cube_edge, 4> sides_of(const cube_face& face) noexcept;

class octree {
 public:
  /// What a cube weighs: not less than its eight parts together, about.
  using weight = std::function<double(const cube&)>;
  /// Splits the leaf that weighs most until there are `leaves_min`, or all leaves are as small as `may_split` allows.
  /// Then splits leaves until no two that touch differ by a factor of more than 2 in size.
  octree(std::uint32_t leaves_min, const weight& weight, const std::function<bool(const cube&)>& may_split);

  /// By the order of a depth-first search, in which neighbours are near to each other.
  [[nodiscard]] std::vector<leaf_plan> leaves() const;

 private:
  struct node {
    cube box;
    std::uint32_t first_child = 0;  // of eight; 0 for a leaf
    std::uint32_t number = 0;       // of a leaf
  };
  void split(std::uint32_t n);
  [[nodiscard]] std::uint32_t leaf_at(const place& position) const noexcept;
  void balance();
  void number_leaves();
  void collect_faces(cube_face face, bool upper, std::vector<cube_face>& faces) const;
  void collect_edges(const cube_edge& stretch, std::vector<cube_edge>& edges) const;

  std::vector<node> nodes_{};
  std::vector<std::uint32_t> ordered_{};  // leaves
};

}  // namespace mesh3d
