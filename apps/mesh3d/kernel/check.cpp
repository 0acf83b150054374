// SPDX-License-Identifier: Apache-2.0
// The check of one subdomain.
#include "kernel/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel/shape.hpp"
#include "meshing/exact_sum.hpp"

namespace mesh3d {
namespace {

std::string text_of(const point& p) { return fmt::format("({:.9g}, {:.9g}, {:.9g})", p.x, p.y, p.z); }

std::array<point, 4> corners_of(const triangulation& mesh, index t) {
  const auto& [a, b, c, d] = mesh.tetrahedra[t].corner;
  return {mesh.at(a), mesh.at(b), mesh.at(c), mesh.at(d)};
}

bool on_face(const cube_face& face, const point& p) {
  const point low = to_point(face.low);
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    const double source = coordinate(low, axis), value = coordinate(p, axis);
    const double end = axis == face.axis ? source : source + to_length(face.size);
    if (value < source || value > end) return false;
  }
  return true;
}

std::string too_near(const triangulation& mesh, facet f) {
  return fmt::format("a vertex is too near to the facet of the hull at {}", text_of(mesh.at(mesh.corners(f)[0])));
}

/// What the facets of one tetrahedron must be like.
void check_facets(const triangulation& mesh, index t, const triangle_tree* surface, findings& findings) {
  for (unsigned k = 0; k < 4; ++k) {
    const facet f = facet_of(t, k), twin = mesh.twin(f);
    if (twin == none) {
      // Unless that corner is in the facet's sphere, the half in the box lies within the tetrahedron's, which is empty.
      // Corners on the input surface may be nearer.
      const point& apex = mesh.at(mesh.tetrahedra[t].corner[k]);
      if (!encroaches(mesh, f, apex, -1e-6)) continue;
      if (surface == nullptr || !surface->nearest(apex, quality_rule::on_surface)) findings.fault(too_near(mesh, f));
      continue;
    }
    const index other = tetrahedron_of(twin);
    if (other >= mesh.tetrahedra.size() || !mesh.in_use(other) || mesh.twin(twin) != f) {
      findings.fault(fmt::format("tetrahedron {}: its neighbour does not know it", t));
      continue;
    }
    auto mine = mesh.corners(f), theirs = mesh.corners(twin);
    std::sort(mine.begin(), mine.end());
    std::sort(theirs.begin(), theirs.end());
    if (mine != theirs)
      findings.fault(fmt::format("tetrahedra {} and {} share a facet, but not its corners", t, other));
    if (mesh.conflicts(t, mesh.at(mesh.tetrahedra[other].corner[twin & 3]))) {
      findings.fault(fmt::format("a facet at {} is not Delaunay", text_of(mesh.at(mine[0]))));
    }
  }
}

void measure(const std::array<point, 4>& corner, const size_field& size, findings& findings) {
  const auto& [a, b, c, d] = corner;
  findings.volume += dot(b - a, cross(c - a, d - a)) / 6;
  for (const double degrees : dihedral_angles(corner)) {
    findings.degrees_min = std::min(findings.degrees_min, degrees);
    findings.degrees_max = std::max(findings.degrees_max, degrees);
  }
  add_angles(corner, findings.dihedrals);
  const double radius = std::sqrt(circumsphere(a, b, c, d).squared_radius);
  if (!std::isfinite(radius)) return;
  findings.ratio_max = std::max(findings.ratio_max, radius / std::sqrt(shortest_edge(a, b, c, d)));
  findings.radius_max = std::max(findings.radius_max, radius / size.at((a + b + c + d) * 0.25));
}

/// Twice the area of the triangles, seen along the face's axis, must be twice that of the face without any rounding.
/// Together with positive volumes this leaves no hole and no overlap.
bool covers(const cube_face& face, const std::vector<shared_triangle>& triangles) {
  struct flat {
    double x, y;
  };
  meshing::exact_sum twice, wanted;
  for (const shared_triangle& each : triangles) {
    std::array<flat, 3> flats{};
    for (unsigned k = 0; k < 3; ++k) {
      flats[k] = {coordinate(each.corner[k], (face.axis + 1) % 3), coordinate(each.corner[k], (face.axis + 2) % 3)};
    }
    meshing::exact_sum exact_sum;
    for (unsigned k = 0; k < 3; ++k) exact_sum.add_edge(flats[k], flats[(k + 1) % 3]);
    if (exact_sum.value() < 0) {  // its corners are sorted, so they may turn right
      std::swap(flats[1], flats[2]);
      exact_sum = {};
      for (unsigned k = 0; k < 3; ++k) exact_sum.add_edge(flats[k], flats[(k + 1) % 3]);
    }
    twice.add(exact_sum);
  }
  wanted.add_product(2 * to_length(face.size), to_length(face.size));
  return twice.equals(wanted);
}

void check_bounds(triangulation& mesh, const quality_rule& rule, findings& findings) {
  refiner judge(mesh, rule, refiner::pass::slivers);
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    const attempt outcome = judge.judge(t);
    if (outcome == attempt::refused) ++findings.refused;
    if (outcome != attempt::inserted) continue;
    findings.fault(fmt::format("the tetrahedron at {} is too large or too thin", text_of(corners_of(mesh, t)[0])));
  }
}

bool at_boundary(const cube_face& face) { return face.low[face.axis] == 0 || face.low[face.axis] == cube_size; }

}  // namespace

void add_angles(const std::array<point, 4>& corner, angle_histogram& angle_histogram) noexcept {
  for (const double degrees : dihedral_angles(corner)) {
    ++angle_histogram[std::min(static_cast<std::size_t>(degrees / 5), angle_histogram.size() - 1)];
  }
}

void findings::fault(std::string text) {
  ++faults;
  if (fault_texts.size() < listed_max) fault_texts.push_back(std::move(text));
}

void findings::merge(const findings& other) {
  tetrahedra += other.tetrahedra;
  faults += other.faults;
  refused += other.refused;
  facets_shared += other.facets_shared;
  facets_of_domain += other.facets_of_domain;
  for (std::size_t k = 0; k < dihedrals.size(); ++k) {
    dihedrals[k] += other.dihedrals[k];
    unsplit[k] += other.unsplit[k];
  }
  degrees_min = std::min(degrees_min, other.degrees_min);
  degrees_max = std::max(degrees_max, other.degrees_max);
  ratio_max = std::max(ratio_max, other.ratio_max);
  radius_max = std::max(radius_max, other.radius_max);
  volume += other.volume;
  surface.merge(other.surface);
  for (const std::string& each : other.fault_texts) {
    if (fault_texts.size() < listed_max) fault_texts.push_back(each);
  }
}

std::vector<std::vector<shared_triangle>> hull_triangles(const triangulation& mesh, const leaf_plan& leaf,
                                                         const std::vector<std::uint8_t>& inner) {
  std::vector<std::vector<shared_triangle>> shared_triangles(leaf.faces.size());
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    for (unsigned k = 0; k < 4; ++k) {
      if (mesh.twin(facet_of(t, k)) != none) continue;
      const auto [a, b, c] = mesh.corners(facet_of(t, k));
      shared_triangle each{{mesh.at(a), mesh.at(b), mesh.at(c)}, t < inner.size() ? inner[t] : std::uint8_t{0}};
      std::sort(each.corner.begin(), each.corner.end());
      const auto face = std::find_if(leaf.faces.begin(), leaf.faces.end(), [&](const cube_face& one) {
        return std::all_of(each.corner.begin(), each.corner.end(), [&](const point& p) { return on_face(one, p); });
      });
      if (face != leaf.faces.end())
        shared_triangles[static_cast<std::size_t>(face - leaf.faces.begin())].push_back(each);
    }
  }
  for (auto& each : shared_triangles) std::sort(each.begin(), each.end());
  return shared_triangles;
}

findings check_leaf(triangulation& mesh, const leaf_plan& leaf, const quality_rule& rule) {
  findings match;
  std::size_t hull = 0;
  for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!mesh.in_use(t)) continue;
    ++match.tetrahedra;
    const std::array<point, 4> corner = corners_of(mesh, t);
    if (!(orient(corner[0], corner[1], corner[2], corner[3]) > 0)) {
      match.fault(fmt::format("a tetrahedron at {} has no positive volume", text_of(corner[0])));
    }
    check_facets(mesh, t, rule.size.surface, match);
    const auto& twin = mesh.tetrahedra[t].twin;
    hull += static_cast<std::size_t>(std::count(twin.begin(), twin.end(), none));
    measure(corner, rule.size, match);
  }
  const auto triangles = hull_triangles(mesh, leaf);
  std::size_t named = 0;
  for (const auto& each : triangles) named += each.size();
  if (named != hull) match.fault(fmt::format("{} facets of the hull lie in no face of the subdomain", hull - named));
  for (std::size_t k = 0; k < leaf.faces.size(); ++k) {
    const cube_face& face = leaf.faces[k];
    if (!covers(face, triangles[k]))
      match.fault(fmt::format("the face at {} is not covered", text_of(to_point(face.low))));
    if ((face.neighbour == cube_face::nobody) != at_boundary(face))
      match.fault("a face within the domain has one side");
    (face.neighbour == cube_face::nobody ? match.facets_of_domain : match.facets_shared) += triangles[k].size();
  }
  if (match.faults == 0) check_bounds(mesh, rule, match);  // a walk through a mesh with faults may not end
  return match;
}

}  // namespace mesh3d
