// SPDX-License-Identifier: Apache-2.0
// The checks: neighbours, orientation, Delaunay, pieces, duplicates, area, angles.
#include "kernel/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh2d {
namespace {

std::string place_text(const point& point) { return fmt::format("({:.17g}, {:.17g})", point.x, point.y); }

/// Returns false when the arrays are too broken to go on.
bool check_neighbours(const triangulation& mesh, findings& findings) {
  const std::uint64_t previous = findings.faults;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    const triangle& each = mesh.triangles[t];
    for (unsigned k = 0; k < 3; ++k) {
      if (each.corner[k] >= mesh.vertices.size()) {
        findings.fault(fmt::format("triangle {} has no vertex {}", t, k));
        return false;
      }
      const side s = side_of(t, k), other = each.twin[k];
      if (other == none) {
        if (!mesh.constrained(s)) findings.fault(fmt::format("triangle {} ends at a side that is not constrained", t));
        continue;
      }
      if (triangle_of(other) >= mesh.triangles.size() || (other & 3) == 3 || mesh.twin(other) != s) {
        findings.fault(fmt::format("triangle {} has a neighbour that does not know it", t));
        return false;
      }
      if (mesh.origin(s) != mesh.target(other) || mesh.target(s) != mesh.origin(other)) {
        findings.fault(fmt::format("triangle {} and its neighbour do not share a side", t));
      }
      if (mesh.constrained(s) != mesh.constrained(other))
        findings.fault(fmt::format("triangle {}: half a constraint", t));
    }
  }
  return findings.faults == previous;
}

void check_geometry(const triangulation& mesh, findings& findings) {
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [ia, ib, ic] = mesh.triangles[t].corner;
    const point &a = mesh.at(ia), &b = mesh.at(ib), &c = mesh.at(ic);
    if (orient(a, b, c) <= 0) findings.fault("a triangle is flat or inside out at " + place_text(a));
    findings.twice_area.add_edge(a, b);
    findings.twice_area.add_edge(b, c);
    findings.twice_area.add_edge(c, a);
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = mesh.twin(s);
      if (other == none || other < s || mesh.constrained(s)) continue;
      if (in_circle(a, b, c, mesh.at(mesh.apex(other))) > 0) {
        findings.fault(fmt::format("the side from {} to {} is not Delaunay", place_text(mesh.at(mesh.origin(s))),
                                   place_text(mesh.at(mesh.target(s)))));
      }
    }
  }
}

/// A constrained side by its piece and its place there, the lower end first.
struct covered {
  std::uint32_t piece;
  index low, high;
  index low_vertex, high_vertex;
  bool at_boundary;
  auto key() const noexcept { return std::tie(piece, low); }
};

std::vector<covered> constrained_sides(const part& given, findings& findings) {
  std::vector<covered> all;
  for (index t = 0; t < given.mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = given.mesh.twin(s);
      if (!given.mesh.constrained(s) || (other != none && other < s)) continue;
      const std::uint32_t number = given.piece_of(s);
      if (number == none || number >= given.pieces.size()) {
        findings.fault("a constrained side belongs to nothing at " + place_text(given.mesh.at(given.mesh.origin(s))));
        continue;
      }
      const piece& piece = given.pieces[number];
      index a = given.mesh.origin(s), b = given.mesh.target(s);
      if (given.fraction_of(a, piece) > given.fraction_of(b, piece)) std::swap(a, b);
      all.push_back({number, given.fraction_of(a, piece), given.fraction_of(b, piece), a, b, other == none});
    }
  }
  std::sort(all.begin(), all.end(), [](const covered& a, const covered& b) { return a.key() < b.key(); });
  return all;
}

/// The sides of each piece follow each other from its beginning to its end, at exactly its points.
void check_pieces(const part& given, findings& findings) {
  const std::vector<covered> sides = constrained_sides(given, findings);
  findings.sides_constrained = sides.size();
  std::size_t position = 0;
  for (std::uint32_t k = 0; k < given.pieces.size(); ++k) {
    const piece& each = given.pieces[k];
    index reached = 0, vertex_reached = each.from;
    bool whole = true;
    double error = 0;
    for (; position < sides.size() && sides[position].piece == k; ++position) {
      const covered& one = sides[position];
      const point& end = given.mesh.at(one.high_vertex);
      whole = whole && one.low == reached && one.low_vertex == vertex_reached && one.high > one.low;
      whole = whole && (one.high == whole_fraction ? end == each.to_at : end == each.at(one.high));
      reached = one.high;
      vertex_reached = one.high_vertex;
      if (one.at_boundary) error = 1;
    }
    whole = whole && reached == whole_fraction && vertex_reached == each.to && given.mesh.at(each.from) == each.from_at;
    if (whole) findings.pieces.push_back(each.name);
    if (!whole) findings.fault("a segment is not there, or has gaps, at " + place_text(each.from_at));
    // A point on a piece has three roundings in each coordinate, each at most 2^-53 of the largest value on the way,
    // which is at most twice the largest coordinate: it is within 6 sqrt(2) 2^-53 of that from the straight line. The
    // ends of the piece may be such points on a piece of the coarse mesh, and the ends of that one such points on an
    // input segment. So the distance is at most three times that, and twice the area between is at most 2 * length *
    // distance.
    const double most =
        std::max({std::abs(each.from_at.x), std::abs(each.from_at.y), std::abs(each.to_at.x), std::abs(each.to_at.y)});
    findings.area_error_max += error * 51 * 0x1p-53 * most * std::sqrt(squared_length(each.to_at - each.from_at));
  }
}

void check_duplicates(const triangulation& mesh, findings& findings) {
  std::vector<index> order(mesh.vertices.size());
  for (index v = 0; v < order.size(); ++v) order[v] = v;
  const auto place = [&](index v) { return std::pair(mesh.at(v).x, mesh.at(v).y); };
  std::sort(order.begin(), order.end(), [&](index a, index b) { return place(a) < place(b); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const vertex &a = mesh.vertices[order[k - 1]], &b = mesh.vertices[order[k]];
    const bool one_corner = a.corner != none && a.corner == b.corner;  // two fans at one place of the boundary
    if (a.position == b.position && !one_corner) findings.fault("two vertices at " + place_text(a.position));
  }
}

double degrees_between(const point& u, const point& v) {
  return std::atan2(std::abs(cross(u, v)), dot(u, v)) * 180 / std::numbers::pi;
}

/// Whether a triangle, or one that shares a vertex with it, is flatter than the grid of doubles allows to refine.
bool touches_flat(const triangulation& mesh, index t, double height_min) {
  bool flat = false;
  for (const index v : mesh.triangles[t].corner) {
    mesh.for_fan(v, [&](side s) {
      double longest = 0;
      for (const side each : {s, next(s), previous(s)}) {
        longest = std::max(longest, squared_length(mesh.at(mesh.target(each)) - mesh.at(mesh.origin(each))));
      }
      flat = flat || twice_area(mesh, triangle_of(s)) <= height_min * std::sqrt(longest);
    });
  }
  return flat;
}

void check_quality(const part& given, const size_rule& rule, findings& findings) {
  const triangulation& mesh = given.mesh;
  const double height_min = given.height_min() * (1 + 1e-9);
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    const auto& corner = mesh.triangles[t].corner;
    const point &a = mesh.at(corner[0]), &b = mesh.at(corner[1]), &c = mesh.at(corner[2]);
    const std::array<double, 3> angle{degrees_between(b - a, c - a), degrees_between(c - b, a - b),
                                      degrees_between(a - c, b - c)};
    const auto least = static_cast<unsigned>(std::min_element(angle.begin(), angle.end()) - angle.begin());
    findings.degrees_min = std::min(findings.degrees_min, angle[least]);
    const point centroid{(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
    const bool thin = angle[least] < rule.degrees() * (1 - 1e-9);
    const bool large = twice_area(mesh, t) / 2 > rule.area_max(mesh.triangles[t].region, centroid) * (1 + 1e-9);
    if (!thin && !large) continue;
    const index source = corner[(least + 1) % 3], target = corner[(least + 2) % 3];
    const bool by_precision = touches_flat(mesh, t, height_min);
    if (!by_precision && (large || !(given.spans_small_angle(source, target) || given.fills_wedge(t)))) {
      findings.fault(fmt::format("a triangle at {} has {:.4f} degrees and the area {:.6g}", place_text(centroid),
                                 angle[least], twice_area(mesh, t) / 2));
      continue;
    }
    ++findings.exempt;
    if (findings.exemptions.size() < findings::listed_max) {
      findings.exemptions.push_back({centroid, angle[least], by_precision});
    }
  }
}

}  // namespace

void findings::fault(std::string text) {
  ++faults;
  if (fault_texts.size() < listed_max) fault_texts.push_back(std::move(text));
}

void findings::merge(const findings& other) {
  triangles += other.triangles;
  vertices += other.vertices;
  sides_constrained += other.sides_constrained;
  degrees_min = std::min(degrees_min, other.degrees_min);
  faults += other.faults;
  exempt += other.exempt;
  for (const std::string& each : other.fault_texts) {
    if (fault_texts.size() < listed_max) fault_texts.push_back(each);
  }
  for (const exemption& each : other.exemptions) {
    if (exemptions.size() < listed_max) exemptions.push_back(each);
  }
  twice_area.add(other.twice_area);
  area_error_max += other.area_error_max;
  pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
}

findings check_part(const part& given, const size_rule& rule) {
  findings match;
  match.triangles = given.mesh.triangles.size();
  match.vertices = given.mesh.vertices.size();
  if (!check_neighbours(given.mesh, match)) return match;
  check_geometry(given.mesh, match);
  check_pieces(given, match);
  check_duplicates(given.mesh, match);
  check_quality(given, rule, match);
  return match;
}

std::vector<interface_record> interfaces_of(const part& given) {
  findings ignored;
  std::vector<interface_record> records;
  std::uint32_t last = none;
  for (const covered& each : constrained_sides(given, ignored)) {
    const piece& piece = given.pieces[each.piece];
    if (piece.neighbour == none) continue;
    if (each.piece != last) records.push_back({piece.name, piece.neighbour, {}});
    last = each.piece;
    records.back().fractions.push_back(each.high);
  }
  return records;
}

}  // namespace mesh2d
