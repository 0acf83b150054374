// SPDX-License-Identifier: Apache-2.0
// From the triangles of a file to a surface that can be meshed.
#include "surface/placed_surface.hpp"

#include <fmt/format.h>
#include <numbers>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "plan/size_field.hpp"
#include "surface/crossings.hpp"
#include "surface/curvature.hpp"
#include "surface/topology.hpp"

namespace mesh3d {
namespace {

/// Curvature makes edges no shorter than this part of the others at the surface.
constexpr double finest = 1.0 / 16;

/// Leaves out points of no triangle.
void drop_lone_points(surface_mesh& mesh) {
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(mesh.points.size(), unused);
  std::vector<point> kept;
  for (auto& corner : mesh.triangles) {
    for (std::uint32_t& v : corner) {
      if (number[v] == unused) {
        number[v] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(mesh.points[v]);
      }
      v = number[v];
    }
  }
  mesh.points = std::move(kept);
}

placement place_into_cube(surface_mesh& mesh, double margin, const std::string& name) {
  const auto [low, high] = bounds_of(mesh);
  const point extent = high - low;
  const double most = std::max({extent.x, extent.y, extent.z});
  const double largest = std::max(
      {std::abs(low.x), std::abs(low.y), std::abs(low.z), std::abs(high.x), std::abs(high.y), std::abs(high.z)});
  if (!(most > 1e-9 * largest) || !(most > 1e-100)) {
    throw nacre::setup_error({fmt::format("{}: all points are at one place", name), "nothing is inside of the surface",
                              "check the coordinates"});
  }
  placement place{low + extent * 0.5, 1 / most};
  surface_mesh turned = mesh;
  for (point& p : turned.points) p = place.into_cube(p);
  const auto [turned_low, turned_high] = bounds_of(turned);
  place.centre = place.out_of_cube((turned_low + turned_high) * 0.5);
  const point size = turned_high - turned_low;
  place.scale = (1 - 2 * margin) / (most * std::max({size.x, size.y, size.z}));
  for (point& p : mesh.points) p = place.into_cube(p);
  return place;
}

/// Makes points at one place one, and leaves out triangles that have a corner twice. Returns how many.
std::pair<std::size_t, std::size_t> merge_points(surface_mesh& mesh) {
  std::vector<std::uint32_t> order(mesh.points.size()), first(mesh.points.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t v) { return std::pair(mesh.points[v], v); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::size_t merged = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && mesh.points[order[k]] == mesh.points[order[k - 1]];
    first[order[k]] = same ? first[order[k - 1]] : order[k];
    merged += same ? 1 : 0;
  }
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    surface_mesh::triangle corner = mesh.triangles[t];
    for (std::uint32_t& v : corner) v = first[v];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
    if (t < mesh.lines.size()) mesh.lines[kept] = mesh.lines[t];
    mesh.triangles[kept++] = corner;
  }
  const std::size_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  if (!mesh.lines.empty()) mesh.lines.resize(kept);
  drop_lone_points(mesh);
  return {merged, dropped};
}

void demand_no_crossing(const placed_surface& placed_surface, const std::vector<surface_edge>& edges,
                        const triangle_tree& tree, const surface_names& names, std::vector<std::string>& notes) {
  const crossing_search search = find_crossing(placed_surface.mesh, edges, tree);
  if (!search.complete) notes.emplace_back("the triangles are too long and thin to look whether they cross each other");
  if (!search.pair) return;
  const auto [s, t] = *search.pair;
  const point near = placed_surface.mesh.corners(s)[0];
  throw nacre::setup_error(
      {fmt::format("{}: {} and {} meet near {}", names.file, names.triangle(placed_surface.mesh, s),
                   names.triangle(placed_surface.mesh, t), names.at(near)),
       "a surface that crosses or touches itself has no clear inside", "mend it, for example with meshlab or MeshFix"});
}

/// The volume of the space in an odd number of components. They do not cross, so each is inside of another one as a
/// whole or not at all.
double volume_inside(const surface_mesh& mesh, const surface_topology& topology, const triangle_tree& tree) {
  std::vector<double> volumes(topology.component_count);
  std::vector<std::uint32_t> one(topology.component_count);
  for (std::size_t t = mesh.triangles.size(); t-- > 0;) {
    const auto [a, b, c] = mesh.corners(t);
    volumes[topology.components[t]] += dot(a, cross(b, c)) / 6;
    one[topology.components[t]] = static_cast<std::uint32_t>(t);
  }
  double sum = 0;
  for (std::uint32_t k = 0; k < topology.component_count; ++k) {
    const bool hollow = topology.component_count > 1 && tree.inside(mesh.corners(one[k])[0], [&](std::uint32_t t) {
      return topology.components[t] != k;
    });
    sum += hollow ? -volumes[k] : volumes[k];
  }
  return sum;
}

std::vector<double> lengths_by_curvature(const surface_mesh& mesh, const surface_topology& topology,
                                         const surface_rule& rule) {
  const std::vector<double> curvature = curvatures(mesh, topology.edges);
  std::vector<double> values;
  for (const auto& corner : mesh.triangles) {
    double most = 0;
    for (const std::uint32_t v : corner) most = std::max(most, curvature[v]);
    const double wanted =
        rule.edges_a_turn > 0 && most > 0 ? 2 * std::numbers::pi / (rule.edges_a_turn * most) : rule.length_max;
    values.push_back(std::clamp(wanted, std::max(rule.length_max * finest, length_min), rule.length_max));
  }
  return values;
}

}  // namespace

placed_surface place_surface(surface_mesh mesh, const surface_rule& rule, const std::string& name) {
  drop_lone_points(mesh);
  if (mesh.triangles.empty()) {
    throw nacre::setup_error({name + " has no faces", "nothing is inside of it", "check that it is a surface"});
  }
  placed_surface result;
  result.growth = rule.growth;
  if (mesh.joined > 0)
    result.notes.push_back(fmt::format("{} points were nearly at the place of another one", mesh.joined));
  result.place = place_into_cube(mesh, rule.margin, name);
  const auto [merged, dropped] = merge_points(mesh);
  if (merged > 0) result.notes.push_back(fmt::format("{} points were at the place of another one", merged));
  if (dropped > 0) result.notes.push_back(fmt::format("{} triangles had a corner twice", dropped));
  result.mesh = std::move(mesh);
  const surface_names names{name, [&](const point& p) {
                              const point q = result.place.out_of_cube(p);
                              const auto rounded = [&](double x) {
                                return std::abs(x) * result.place.scale < 1e-12 ? 0 : x;
                              };
                              return point{rounded(q.x), rounded(q.y), rounded(q.z)};
                            }};
  const surface_topology topology = orient_surface(result.mesh, names);
  if (topology.turned > 0) result.notes.push_back(fmt::format("{} triangles faced inwards", topology.turned));
  result.components = topology.component_count;
  const triangle_tree tree(result.mesh, std::vector<double>(result.mesh.triangles.size()));
  demand_no_crossing(result, topology.edges, tree, names, result.notes);
  result.area = area_of(result.mesh);
  result.volume = volume_inside(result.mesh, topology, tree);
  if (!(result.volume > 1e-12)) {
    throw nacre::setup_error(
        {fmt::format("{}: the surface encloses a volume of {:.3g} of the cube around it", name, result.volume),
         "there is no room for tetrahedra", "check the coordinates"});
  }
  result.lengths = lengths_by_curvature(result.mesh, topology, rule);
  return result;
}

}  // namespace mesh3d
