// SPDX-License-Identifier: Apache-2.0
// Distances, components and volumes.
#include "kernel/surface_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "surface/euler_numbers.hpp"

namespace mesh3d {

namespace {

/// Lengths and places in the units of the surface's file.
std::string place_in_file(const placed_surface& surface, const point& in_cube) {
  const point at = surface.place.out_of_cube(in_cube);
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", at.x, at.y, at.z);
}

constexpr const char* shorter = "edges are too long there, try a shorter --surface-size or more --tetrahedra";

void judge_deviation(const placed_surface& surface, const deviation& measured, double bound, const std::string& problem,
                     const char* remedy, findings& into) {
  if (measured.by_length <= bound) return;
  const auto [low, high] = bounds_of(surface.mesh);
  const double diagonal = std::sqrt(squared_length(high - low));
  into.fault(fmt::format(
      "{} at {}: by {:.3g}, {:.2f} of the length asked for there (bound {}) and {:.2g} % of the diagonal; {}", problem,
      place_in_file(surface, measured.place), measured.distance / surface.place.scale, measured.by_length, bound,
      100 * measured.distance / diagonal, remedy));
}

/// The Euler numbers that one side has more of than the other.
std::string difference_of(const std::vector<std::int64_t>& ours, const std::vector<std::int64_t>& others) {
  std::vector<std::int64_t> more;
  std::set_difference(ours.begin(), ours.end(), others.begin(), others.end(), std::back_inserter(more));
  return more.empty() ? "none" : list_of(more);
}

}  // namespace

void surface_findings::merge(const surface_findings& other) {
  inner_tetrahedra += other.inner_tetrahedra;
  turned += other.turned;
  inner_volume += other.inner_volume;
  triangles += other.triangles;
  area += other.area;
  volume_tolerance += other.volume_tolerance;
  corners += other.corners;
  corners_off += other.corners_off;
  to_surface.merge(other.to_surface);
  from_surface.merge(other.from_surface);
}

void measure_boundary(const std::array<point, 3>& corner, const size_field& size, surface_findings& into) {
  const auto& [a, b, c] = corner;
  const double length = size.at((a + b + c) * (1.0 / 3)), area = std::sqrt(squared_length(cross(b - a, c - a))) / 2;
  ++into.triangles;
  into.area += area;
  into.volume_tolerance += area * length * surface_findings::volume_by_area;
  for (const point& each : corner) {
    ++into.corners;
    if (!size.surface->nearest(each, quality_rule::on_surface)) ++into.corners_off;
  }
  deviation_meter(*size.surface, size, surface_findings::to_surface_bound).measure(corner, into.to_surface);
}

void measure_surface(const half_open_box& box, const triangle_tree& boundary, const size_field& size,
                     surface_findings& into) {
  const deviation_meter meter(boundary, size, surface_findings::from_surface_bound);
  size.surface->for_each_in(box.low, box.high, [&](std::uint32_t t) {
    meter.measure_within(box, size.surface->corners(t), into.from_surface);
    return true;
  });
}

namespace {

void judge_counts(const placed_surface& surface, const surface_mesh& boundary, findings& into) {
  surface_counts &counts = into.surface.counts, &wanted = into.surface.wanted;
  counts = count_surface(boundary);
  wanted = count_surface(surface.mesh);
  if (counts.edges_not_of_two > 0) {
    into.fault(fmt::format("{} edges of the boundary do not have two triangles (bound 0), one at {}; {}",
                           counts.edges_not_of_two, place_in_file(surface, counts.place), shorter));
  }
  if (counts.euler_numbers == wanted.euler_numbers) return;
  into.fault(
      fmt::format("Euler numbers without a match: {} of the boundary's {} components, {} of the surface's {}; {}",
                  difference_of(counts.euler_numbers, wanted.euler_numbers), counts.euler_numbers.size(),
                  difference_of(wanted.euler_numbers, counts.euler_numbers), wanted.euler_numbers.size(), shorter));
}

}  // namespace

void judge_surface(const placed_surface& surface, const surface_mesh& boundary, findings& into) {
  surface_findings& found = into.surface;
  judge_deviation(surface, found.to_surface, surface_findings::to_surface_bound, "the mesh leaves the surface", shorter,
                  into);
  judge_deviation(surface, found.from_surface, surface_findings::from_surface_bound, "a part of the surface is lost",
                  "edges are too long there, or the surface is sharper than this method shows: try a shorter "
                  "--surface-size, or round it off",
                  into);
  if (!(std::abs(found.from_surface.area - surface.area) <= 1e-6 * surface.area)) {
    into.fault(fmt::format("{:.9g} of the surface has been measured, which has {:.9g}", found.from_surface.area,
                           surface.area));
  }
  judge_counts(surface, boundary, into);
  found.volume_tolerance = std::min(found.volume_tolerance, surface_findings::volume_by_volume * surface.volume);
  if (!(std::abs(found.inner_volume - surface.volume) <= found.volume_tolerance)) {
    const double part = found.volume_tolerance / surface.volume;
    into.fault(
        fmt::format("the volume inside is {:.4g} of that within the surface (bounds {:.4g} and {:.4g}); edges are too "
                    "long for its thin parts, try more --tetrahedra",
                    found.inner_volume / surface.volume, 1 - part, 1 + part));
  }
}

void check_sides(triangulation& mesh, const quality_rule& rule, const side_list& inner,
                 const std::vector<index>& turned, findings& into, std::vector<std::array<point, 3>>& boundary) {
  if (inner.size() != mesh.tetrahedra.size()) {
    into.fault("some tetrahedra have no side");
    return;
  }
  const refiner judge(mesh, rule);
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const bool is_turned = std::binary_search(turned.begin(), turned.end(), t);
    into.surface.turned += is_turned ? 1 : 0;
    if (judge.is_inside(t) != ((inner[t] != 0) != is_turned)) {
      into.fault(fmt::format("tetrahedron {} is on the other side", t));
    }
    if (inner[t] == 0) continue;
    ++into.surface.inner_tetrahedra;
    const auto& [a, b, c, d] = mesh.tetrahedra[t].corner;
    into.surface.inner_volume +=
        dot(mesh.at(b) - mesh.at(a), cross(mesh.at(c) - mesh.at(a), mesh.at(d) - mesh.at(a))) / 6;
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(t, k), twin = mesh.twin(f);
      if (twin == none || inner[tetrahedron_of(twin)] != 0) continue;
      const auto [p, q, r] = mesh.corners(f);
      boundary.push_back({mesh.at(p), mesh.at(q), mesh.at(r)});
      measure_boundary(boundary.back(), rule.size, into.surface);
    }
  }
}

}  // namespace mesh3d
