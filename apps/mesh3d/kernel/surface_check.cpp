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
  const point position = surface.place.out_of_cube(in_cube);
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", position.x, position.y, position.z);
}

constexpr const char* shorter = "edges are too long there, try a shorter --surface-size or more --tetrahedra";

void judge_deviation(const placed_surface& surface, const deviation& measured, double bound, const std::string& problem,
                     const char* remedy, findings& findings) {
  if (measured.by_length <= bound) return;
  const auto [low, high] = bounds_of(surface.mesh);
  const double diagonal = std::sqrt(squared_length(high - low));
  findings.fault(fmt::format(
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

void measure_boundary(const std::array<point, 3>& corner, const size_field& size, surface_findings& findings) {
  const auto& [a, b, c] = corner;
  const double length = size.at((a + b + c) * (1.0 / 3)), area = std::sqrt(squared_length(cross(b - a, c - a))) / 2;
  ++findings.triangles;
  findings.area += area;
  findings.volume_tolerance += area * length * surface_findings::volume_by_area;
  for (const point& each : corner) {
    ++findings.corners;
    if (!size.surface->nearest(each, quality_rule::on_surface)) ++findings.corners_off;
  }
  deviation_meter(*size.surface, size, surface_findings::to_surface_bound).measure(corner, findings.to_surface);
}

void measure_surface(const half_open_box& box, const triangle_tree& boundary, const size_field& size,
                     surface_findings& findings) {
  const deviation_meter meter(boundary, size, surface_findings::from_surface_bound);
  size.surface->for_each_in(box.low, box.high, [&](std::uint32_t t) {
    meter.measure_within(box, size.surface->corners(t), findings.from_surface);
    return true;
  });
}

namespace {

void judge_counts(const placed_surface& surface, const surface_mesh& boundary, findings& findings) {
  surface_counts &counts = findings.surface.counts, &wanted = findings.surface.wanted;
  counts = count_surface(boundary);
  wanted = count_surface(surface.mesh);
  if (counts.edges_not_of_two > 0) {
    findings.fault(fmt::format("{} edges of the boundary do not have two triangles (bound 0), one at {}; {}",
                               counts.edges_not_of_two, place_in_file(surface, counts.place), shorter));
  }
  if (counts.euler_numbers == wanted.euler_numbers) return;
  findings.fault(
      fmt::format("Euler numbers without a match: {} of the boundary's {} components, {} of the surface's {}; {}",
                  difference_of(counts.euler_numbers, wanted.euler_numbers), counts.euler_numbers.size(),
                  difference_of(wanted.euler_numbers, counts.euler_numbers), wanted.euler_numbers.size(), shorter));
}

}  // namespace

void judge_surface(const placed_surface& surface, const surface_mesh& boundary, findings& target) {
  surface_findings& surface_findings = target.surface;
  judge_deviation(surface, surface_findings.to_surface, surface_findings::to_surface_bound,
                  "the mesh leaves the surface", shorter, target);
  judge_deviation(surface, surface_findings.from_surface, surface_findings::from_surface_bound,
                  "a part of the surface is lost",
                  "edges are too long there, or the surface is sharper than this method shows: try a shorter "
                  "--surface-size, or round it off",
                  target);
  if (!(std::abs(surface_findings.from_surface.area - surface.area) <= 1e-6 * surface.area)) {
    target.fault(fmt::format("{:.9g} of the surface has been measured, which has {:.9g}",
                             surface_findings.from_surface.area, surface.area));
  }
  judge_counts(surface, boundary, target);
  surface_findings.volume_tolerance =
      std::min(surface_findings.volume_tolerance, surface_findings::volume_by_volume * surface.volume);
  if (!(std::abs(surface_findings.inner_volume - surface.volume) <= surface_findings.volume_tolerance)) {
    const double part = surface_findings.volume_tolerance / surface.volume;
    target.fault(
        fmt::format("the volume inside is {:.4g} of that within the surface (bounds {:.4g} and {:.4g}); edges are too "
                    "long for its thin parts, try more --tetrahedra",
                    surface_findings.inner_volume / surface.volume, 1 - part, 1 + part));
  }
}

void check_sides(triangulation& mesh, const quality_rule& rule, const side_list& inner,
                 const std::vector<index>& turned, findings& findings, std::vector<std::array<point, 3>>& boundary) {
  if (inner.size() != mesh.tetrahedra.size()) {
    findings.fault("some tetrahedra have no side");
    return;
  }
  const refiner judge(mesh, rule);
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const bool is_turned = std::binary_search(turned.begin(), turned.end(), t);
    findings.surface.turned += is_turned ? 1 : 0;
    if (judge.is_inside(t) != ((inner[t] != 0) != is_turned)) {
      findings.fault(fmt::format("tetrahedron {} is on the other side", t));
    }
    if (inner[t] == 0) continue;
    ++findings.surface.inner_tetrahedra;
    const auto& [a, b, c, d] = mesh.tetrahedra[t].corner;
    findings.surface.inner_volume +=
        dot(mesh.at(b) - mesh.at(a), cross(mesh.at(c) - mesh.at(a), mesh.at(d) - mesh.at(a))) / 6;
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(t, k), twin = mesh.twin(f);
      if (twin == none || inner[tetrahedron_of(twin)] != 0) continue;
      const auto [p, q, r] = mesh.corners(f);
      boundary.push_back({mesh.at(p), mesh.at(q), mesh.at(r)});
      measure_boundary(boundary.back(), rule.size, findings.surface);
    }
  }
}

}  // namespace mesh3d
