// SPDX-License-Identifier: Apache-2.0
// Pieces, and the cut of a mesh into parts.
#include "kernel/part.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mesh2d {
namespace {

std::uint64_t pair_key(index a, index b) noexcept {
  return a < b ? (std::uint64_t{a} << 32) | b : (std::uint64_t{b} << 32) | a;
}

/// The distance of a vertex from the corner whose small angle it shields.
struct shield {
  index corner, distance;
};

shield shield_of(const part& part, index v) noexcept {
  const vertex& vertex = part.mesh.vertices[v];
  if (!vertex.on_piece()) return {vertex.fraction, whole_fraction};
  const piece& piece = part.pieces[vertex.place];
  return {piece.shielded, piece.shielded == piece.from ? vertex.fraction : whole_fraction - vertex.fraction};
}

/// Gives a name to each vertex that has none.
void name_corners(triangulation& mesh) {
  index fresh = 0;
  for (const vertex& v : mesh.vertices) fresh = v.corner == none ? fresh : std::max(fresh, v.corner + 1);
  for (vertex& v : mesh.vertices) {
    if (v.corner == none) v.corner = fresh++;
  }
}

/// Numbers the constrained sides: their names as pieces, by their vertices.
std::unordered_map<std::uint64_t, std::uint32_t> name_pieces(triangulation& mesh,
                                                             const std::vector<std::uint32_t>& part_of) {
  std::unordered_map<std::uint64_t, std::uint32_t> names;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = mesh.twin(s);
      if (other != none && part_of[t] != part_of[triangle_of(other)]) mesh.constrain(s);
      if (!mesh.constrained(s)) continue;
      names.try_emplace(pair_key(mesh.origin(s), mesh.target(s)), static_cast<std::uint32_t>(names.size()));
    }
  }
  return names;
}

/// Copies the triangles of each part, with vertices and neighbours within it.
std::vector<part> copy_triangles(const triangulation& mesh, const std::vector<std::uint32_t>& part_of,
                                 std::uint32_t count, std::vector<index>& new_triangle) {
  std::vector<part> parts(count);
  std::vector<std::unordered_map<index, index>> new_vertex(count);
  new_triangle.resize(mesh.triangles.size());
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    triangulation& target = parts[part_of[t]].mesh;
    new_triangle[t] = static_cast<index>(target.triangles.size());
    triangle copy = mesh.triangles[t];
    for (index& v : copy.corner) {
      const auto [entry, is_new] = new_vertex[part_of[t]].try_emplace(v, static_cast<index>(target.vertices.size()));
      if (is_new) {
        const vertex& vertex = mesh.vertices[v];
        target.vertices.push_back(
            {.position = vertex.position, .place = vertex.place, .triangle = new_triangle[t], .corner = vertex.corner});
      }
      v = entry->second;
    }
    target.triangles.push_back(copy);
  }
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    for (side& s : parts[part_of[t]].mesh.triangles[new_triangle[t]].twin) {
      if (s == none) continue;
      const index other = triangle_of(s);
      s = part_of[other] == part_of[t] ? side_of(new_triangle[other], s & 3) : none;
    }
  }
  return parts;
}

void add_piece(part& part, const piece& added) {
  const auto position = static_cast<std::uint32_t>(part.pieces.size());
  part.pieces.push_back(added);
  part.whole_pieces.emplace_back(pair_key(added.from, added.to), position);
  part.piece_by_name.emplace_back(added.name, position);
  part.chains.emplace_back();
  if (added.neighbour == none) return;
  part.chains.back() = {{0, added.from}, {whole_fraction, added.to}};
}

/// The piece of a constrained side of the whole mesh, `local` in its part.
piece make_piece(const domain& whole, side s, part& part, side local) {
  const triangulation& mesh = whole.mesh;
  index a = mesh.origin(s), b = mesh.target(s), local_a = part.mesh.origin(local), local_b = part.mesh.target(local);
  if (mesh.vertices[a].corner > mesh.vertices[b].corner) {  // both sides of it take one direction
    std::swap(a, b);
    std::swap(local_a, local_b);
  }
  piece result{.from_at = mesh.at(a), .to_at = mesh.at(b), .from = local_a, .to = local_b};
  result.segment = whole.names.find(a, b);
  if (mesh.vertices[b].fraction == a) {
    result.shielded = local_a;
    part.mesh.vertices[local_b].fraction = local_a;
  } else if (mesh.vertices[a].fraction == b) {
    result.shielded = local_b;
    part.mesh.vertices[local_a].fraction = local_b;
  }
  return result;
}

/// Gives a part the wedges that it may have triangles in.
void copy_wedges(const std::vector<wedge>& all, part& part) {
  if (all.empty()) return;
  std::vector<std::uint32_t> segments;
  for (const piece& each : part.pieces) segments.push_back(each.segment);
  std::sort(segments.begin(), segments.end());
  for (const wedge& each : all) {
    const auto function = [&](std::uint32_t s) { return std::binary_search(segments.begin(), segments.end(), s); };
    if (function(each.first) && function(each.second)) part.wedges.push_back(each);
  }
}

}  // namespace

std::uint32_t part::piece_of(side s) const noexcept {
  const index a = mesh.origin(s), b = mesh.target(s);
  if (mesh.vertices[a].on_piece()) return mesh.vertices[a].place;
  if (mesh.vertices[b].on_piece()) return mesh.vertices[b].place;
  return whole_piece(a, b);
}

std::uint32_t part::whole_piece(index a, index b) const noexcept {
  const auto match = std::lower_bound(whole_pieces.begin(), whole_pieces.end(), std::pair(pair_key(a, b), 0u));
  return match != whole_pieces.end() && match->first == pair_key(a, b) ? match->second : none;
}

std::uint32_t part::segment_of(index v) const noexcept {
  const vertex& vertex = mesh.vertices[v];
  return vertex.on_piece() ? pieces[vertex.place].segment : vertex.segment_of_corner();
}

const wedge* part::find_wedge(std::uint32_t a, std::uint32_t b) const noexcept {
  const wedge wanted{std::min(a, b), std::max(a, b), 0};
  const auto match = std::lower_bound(wedges.begin(), wedges.end(), wanted);
  return match != wedges.end() && match->first == wanted.first && match->second == wanted.second ? &*match : nullptr;
}

bool part::outside_shield(side base, side other) const noexcept {
  const index a = mesh.origin(base), b = mesh.target(base), corner = shield_of(*this, a).corner;
  const double radius = squared_length(mesh.at(a) - mesh.at(corner));
  constexpr double of_20_degrees = 0.1206;  // the square of twice the sine of half the angle
  if (squared_length(mesh.at(b) - mesh.at(a)) < of_20_degrees * radius) return false;
  for (const index end : {mesh.origin(other), mesh.target(other)}) {
    if (end == corner) continue;
    if (shield_of(*this, end).corner != corner) return true;
    if (squared_length(mesh.at(end) - mesh.at(corner)) > radius * (1 + 1e-9)) return true;
  }
  return false;
}

bool part::longer_than_shielded(side s) const noexcept {
  const index a = mesh.origin(s), b = mesh.target(s);
  const double length = squared_length(mesh.at(b) - mesh.at(a));
  for (const auto& [near, far] : {std::pair(a, b), std::pair(b, a)}) {
    const index corner = shield_of(*this, near).corner;
    if (corner == none || corner == far) continue;
    const double from_near = squared_length(mesh.at(near) - mesh.at(corner));
    if (squared_length(mesh.at(far) - mesh.at(corner)) > from_near && length > 1.01 * from_near) return true;
  }
  return false;
}

bool part::fills_wedge(index t) const noexcept {
  if (wedges.empty()) return false;
  std::uint32_t a = none, b = none;
  index corner = none;
  for (const index v : mesh.triangles[t].corner) {
    const std::uint32_t segment = segment_of(v);
    if (segment == none && (mesh.vertices[v].corner == none || corner != none)) return false;
    if (segment == none) corner = mesh.vertices[v].corner;
    if (segment == none || segment == a || segment == b) continue;
    if (b != none) return false;
    (a == none ? a : b) = segment;
  }
  const wedge* const in = b == none ? nullptr : find_wedge(a, b);
  return in != nullptr && (corner == none || corner == in->corner);
}

bool part::faces_wedge(side s) const noexcept {
  if (wedges.empty()) return false;
  const std::uint32_t index = piece_of(s), other = segment_of(mesh.apex(s));
  return index != none && other != none && find_wedge(pieces[index].segment, other) != nullptr;
}

double part::height_min() const noexcept {
  double most = 0, longest = 0;
  for (const piece& each : pieces) {
    longest = std::max(longest, squared_length(each.to_at - each.from_at));
    for (const point& point : {each.from_at, each.to_at}) most = std::max({most, std::abs(point.x), std::abs(point.y)});
  }
  return std::max(most * resolution, std::sqrt(longest) * piece_resolution);
}

bool part::spans_small_angle(index a, index b) const noexcept {
  const shield left = shield_of(*this, a), right = shield_of(*this, b);
  if (left.corner == none || left.corner != right.corner || left.distance != right.distance) return false;
  return squared_length(mesh.at(b) - mesh.at(a)) < squared_length(mesh.at(left.corner) - mesh.at(a));
}

std::vector<part> cut_into_parts(domain& whole, const std::vector<std::uint32_t>& part_of, std::uint32_t count) {
  triangulation& mesh = whole.mesh;
  name_corners(mesh);
  const auto names = name_pieces(mesh, part_of);
  std::vector<index> new_triangle;
  std::vector<part> parts = copy_triangles(mesh, part_of, count, new_triangle);
  for (part& each : parts) separate_fans(each.mesh);
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    part& target = parts[part_of[t]];
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = mesh.twin(s);
      if (!mesh.constrained(s)) continue;
      const bool inner = other != none && part_of[triangle_of(other)] == part_of[t];
      if (inner && other < s) continue;  // the other side has made the piece
      piece added = make_piece(whole, s, target, side_of(new_triangle[t], k));
      added.name = names.at(pair_key(mesh.origin(s), mesh.target(s)));
      added.neighbour = other == none || inner ? none : part_of[triangle_of(other)];
      add_piece(target, added);
    }
  }
  for (part& each : parts) {
    std::sort(each.whole_pieces.begin(), each.whole_pieces.end());
    std::sort(each.piece_by_name.begin(), each.piece_by_name.end());
    copy_wedges(whole.wedges, each);
  }
  return parts;
}

}  // namespace mesh2d
