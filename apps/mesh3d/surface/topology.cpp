// SPDX-License-Identifier: Apache-2.0
// Pairs edges by sorting, and turns triangles from neighbour to neighbour.
#include "surface/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

namespace mesh3d {
namespace {

constexpr std::uint32_t unseen = ~std::uint32_t{0};

/// A side of a triangle.
struct half_edge {
  std::uint32_t low, high;  // points
  std::uint32_t triangle;
  bool upwards;  // runs from low to high
};

std::vector<half_edge> half_edges(const surface_mesh& mesh) {
  std::vector<half_edge> result;
  result.reserve(3 * mesh.triangles.size());
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const std::uint32_t a = mesh.triangles[t][k], b = mesh.triangles[t][(k + 1) % 3];
      result.push_back({std::min(a, b), std::max(a, b), t, a < b});
    }
  }
  std::sort(result.begin(), result.end(), [](const half_edge& a, const half_edge& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return result;
}

/// Refuses edges that do not have two triangles.
void demand_pairs(const surface_mesh& mesh, const std::vector<half_edge>& sides, const surface_names& names) {
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end].low == sides[begin].low && sides[end].high == sides[begin].high) ++end;
    if (end - begin == 2) continue;
    const half_edge& side = sides[begin];
    const std::string edge = fmt::format("the edge from {} to {} of {}", names.at(mesh.points[side.low]),
                                         names.at(mesh.points[side.high]), names.triangle(mesh, side.triangle));
    if (end - begin == 1) {
      throw nacre::setup_error({fmt::format("{}: {} has no other triangle", names.file, edge),
                                "the surface is open there, so nothing is inside of it",
                                "close it, for example with meshlab or MeshFix"});
    }
    throw nacre::setup_error({fmt::format("{}: {} has {} triangles", names.file, edge, end - begin),
                              "a surface has two at each edge", "remove the sheets that are too many"});
  }
}

/// Refuses points at which two parts of the surface touch, whose triangles are not one fan: a point there is neither
/// inside nor outside of either. Corners of a triangle are joined across edges; those of a point must be one set then.
void demand_fans(const surface_mesh& mesh, const std::vector<half_edge>& sides, const surface_names& names) {
  std::vector<std::uint32_t> joined(3 * mesh.triangles.size());
  std::iota(joined.begin(), joined.end(), 0U);
  const auto set_of = [&](std::uint32_t corner) {
    while (joined[corner] != corner) corner = joined[corner] = joined[joined[corner]];
    return corner;
  };
  const auto corner_at = [&](std::uint32_t t, std::uint32_t p) {
    const auto& value = mesh.triangles[t];
    return 3 * t + (value[0] == p ? 0U : value[1] == p ? 1U : 2U);
  };
  for (std::size_t k = 0; k < sides.size(); k += 2) {
    for (const std::uint32_t p : {sides[k].low, sides[k].high}) {
      joined[set_of(corner_at(sides[k].triangle, p))] = set_of(corner_at(sides[k + 1].triangle, p));
    }
  }
  std::vector<std::uint32_t> fan(mesh.points.size(), unseen);
  for (std::uint32_t corner = 0; corner < joined.size(); ++corner) {
    const std::uint32_t p = mesh.triangles[corner / 3][corner % 3];
    if (fan[p] == unseen) fan[p] = set_of(corner);
    if (fan[p] == set_of(corner)) continue;
    throw nacre::setup_error({fmt::format("{}: two parts of the surface touch at {}, as {} shows", names.file,
                                          names.at(mesh.points[p]), names.triangle(mesh, corner / 3)),
                              "what is inside is not clear there", "move them apart, or join them along an edge"});
  }
}

/// Turns triangles until those at each edge run along it in opposite directions.
class turner {
 public:
  turner(surface_mesh& mesh, const std::vector<half_edge>& sides, const surface_names& names)
      : mesh_(mesh), names_(names), neighbours_(mesh.triangles.size()), turn_(mesh.triangles.size(), false) {
    for (std::size_t k = 0; k < sides.size(); k += 2) {
      const bool against = sides[k].upwards == sides[k + 1].upwards;
      add(sides[k].triangle, sides[k + 1].triangle, against);
      add(sides[k + 1].triangle, sides[k].triangle, against);
    }
  }

  void turn_all(surface_topology& surface_topology) {
    surface_topology.components.assign(mesh_.triangles.size(), unseen);
    for (std::uint32_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (surface_topology.components[t] != unseen) continue;
      turn_component(t, surface_topology);
      ++surface_topology.component_count;
    }
  }

 private:
  struct neighbour_list {
    std::array<std::pair<std::uint32_t, bool>, 3> triangles{};  // the triangle; whether one of both has to be turned
    unsigned count = 0;
  };
  void add(std::uint32_t t, std::uint32_t other, bool against) {
    neighbours_[t].triangles[neighbours_[t].count++] = {other, against};
  }

  void turn_component(std::uint32_t first, surface_topology& surface_topology) {
    std::vector<std::uint32_t> values{first};
    surface_topology.components[first] = surface_topology.component_count;
    for (std::size_t next = 0; next < values.size(); ++next) {
      const std::uint32_t t = values[next];
      for (unsigned k = 0; k < neighbours_[t].count; ++k) {
        const auto [other, against] = neighbours_[t].triangles[k];
        const bool wanted = turn_[t] != against;
        if (surface_topology.components[other] == unseen) {
          surface_topology.components[other] = surface_topology.component_count;
          turn_[other] = wanted;
          values.push_back(other);
        } else if (turn_[other] != wanted) {
          throw nacre::setup_error({fmt::format("{}: the surface has one side only, as {} shows", names_.file,
                                                names_.triangle(mesh_, other)),
                                    "nothing is inside of a surface that is not orientable", "mend it"});
        }
      }
    }
    apply(values, surface_topology);
  }

  void apply(const std::vector<std::uint32_t>& component, surface_topology& surface_topology) {
    double volume = 0;
    const point origin = mesh_.corners(component.front())[0];
    for (const std::uint32_t t : component) {
      auto& corner = mesh_.triangles[t];
      if (turn_[t]) std::swap(corner[1], corner[2]);
      const auto [a, b, c] = mesh_.corners(t);
      volume += dot(a - origin, cross(b - origin, c - origin));
    }
    for (const std::uint32_t t : component) {
      auto& corner = mesh_.triangles[t];
      if (volume < 0) std::swap(corner[1], corner[2]);
      surface_topology.turned += turn_[t] != (volume < 0) ? 1 : 0;
    }
  }

  surface_mesh& mesh_;
  const surface_names& names_;
  std::vector<neighbour_list> neighbours_;
  std::vector<bool> turn_;
};

}  // namespace

std::string surface_names::at(const point& p) const {
  const point q = in_file(p);
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", q.x, q.y, q.z);
}

std::string surface_names::triangle(const surface_mesh& mesh, std::uint32_t t) const {
  if (t < mesh.lines.size()) return fmt::format("the face at line {}", mesh.lines[t]);
  return fmt::format("the triangle at {}", at(mesh.corners(t)[0]));
}

surface_topology orient_surface(surface_mesh& mesh, const surface_names& names) {
  std::vector<half_edge> sides = half_edges(mesh);
  demand_pairs(mesh, sides, names);
  demand_fans(mesh, sides, names);
  surface_topology result;
  turner(mesh, sides, names).turn_all(result);
  sides = half_edges(mesh);
  for (std::size_t k = 0; k < sides.size(); k += 2) {
    const auto &first = sides[k].upwards ? sides[k] : sides[k + 1],
               &second = sides[k].upwards ? sides[k + 1] : sides[k];
    result.edges.push_back({{first.low, first.high}, {first.triangle, second.triangle}});
  }
  return result;
}

}  // namespace mesh3d
