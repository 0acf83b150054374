// SPDX-License-Identifier: Apache-2.0
// The cavity of a point. Exact predicates that are never undecided make it star-shaped.
#include "kernel/cavity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <nacre/assert.hpp>

#include "kernel/shape.hpp"

namespace mesh3d {

void edge_table::begin(std::size_t edges) {
  if (slots_.size() < 2 * edges) {
    std::size_t size = 256;
    while (size < 2 * edges) size *= 2;
    slots_.assign(size, {});
    epoch_ = 0;
  }
  if (++epoch_ == 0) {  // after 2^32 cavities
    slots_.assign(slots_.size(), {});
    epoch_ = 1;
  }
}

facet edge_table::meet(index a, index b, facet waiting) {
  // Both directions of an edge have one place, so that a single search finds the other one.
  const std::uint64_t low = a < b ? a : b, high = a < b ? b : a;
  const std::uint64_t edge = low << 32 | high;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t position = (edge * 0x9e3779b97f4a7c15u) >> 32 & mask;; position = (position + 1) & mask) {
    slot& slot = slots_[position];
    if (slot.epoch != epoch_) {
      slot = {edge, waiting, epoch_};
      return none;
    }
    if (slot.edge == edge) return slot.waiting;
  }
}

void cavity::collect(const triangulation& mesh, const point& point, index begin) {
  marks_.resize(mesh.tetrahedra.size(), mark::unseen);
  inside_.assign(1, begin);
  outside_.clear();
  border_.clear();
  marks_[begin] = mark::inside;
  for (std::size_t next = 0; next < inside_.size(); ++next) {
    for (unsigned k = 0; k < 4; ++k) {
      const facet f = facet_of(inside_[next], k), twin = mesh.twin(f);
      if (twin != none) {
        const index t = tetrahedron_of(twin);
        if (marks_[t] == mark::unseen) {
          const bool conflicting = mesh.conflicts(t, point);
          marks_[t] = conflicting ? mark::inside : mark::outside;
          (conflicting ? inside_ : outside_).push_back(t);
        }
        if (marks_[t] == mark::inside) continue;
      }
      border_.push_back(f);
    }
  }
  for (const index t : inside_) marks_[t] = mark::unseen;
  for (const index t : outside_) marks_[t] = mark::unseen;
}

index cavity::take_slot(triangulation& mesh) {
  if (!inside_.empty()) {
    const index t = inside_.back();
    inside_.pop_back();
    return t;
  }
  if (!mesh.unused.empty()) {
    const index t = mesh.unused.back();
    mesh.unused.pop_back();
    return t;
  }
  mesh.tetrahedra.emplace_back();
  return static_cast<index>(mesh.tetrahedra.size() - 1);
}

void cavity::add_tetrahedron(triangulation& mesh, facet beyond, const std::array<index, 3>& base, index apex) {
  const index t = take_slot(mesh);
  filled_.push_back(t);
  mesh.tetrahedra[t] = {.corner = {base[0], base[1], base[2], apex}, .twin = {none, none, none, beyond}};
  if (beyond != none) mesh.tetrahedra[tetrahedron_of(beyond)].twin[beyond & 3] = facet_of(t, 3);
  for (unsigned k = 0; k < 3; ++k) {
    const facet inner = facet_of(t, k);
    const facet other = edges_.meet(base[(k + 1) % 3], base[(k + 2) % 3], inner);
    if (other == none) continue;
    mesh.tetrahedra[t].twin[k] = other;
    mesh.tetrahedra[tetrahedron_of(other)].twin[other & 3] = inner;
  }
}

index cavity::fill(triangulation& mesh, const point& point) {
  const auto v = static_cast<index>(mesh.vertices.size());
  bases_.clear();
  for (const facet f : border_) {
    const facet beyond = mesh.twin(f);
    // A facet of the hull that holds the point is replaced by the hull facets of its neighbours.
    if (beyond == none && mesh.side(f, point) == 0) continue;
    bases_.push_back({mesh.corners(f), beyond});
  }
  NACRE_EXPECT(mesh.tetrahedra.size() + bases_.size() < triangulation::tetrahedra_max,
               "facets are numbered by 32 bits");
  mesh.vertices.push_back(point);
  edges_.begin(3 * bases_.size());
  filled_.clear();
  for (const base_triangle& each : bases_) add_tetrahedron(mesh, each.beyond, each.corner, v);
  for (const index t : inside_) mesh.tetrahedra[t] = {};
  mesh.unused.insert(mesh.unused.end(), inside_.begin(), inside_.end());
  inside_.clear();
  return v;
}

bool encroaches(const triangulation& mesh, facet f, const point& p, double margin) noexcept {
  const auto [a, b, c] = mesh.corners(f);
  const sphere sphere = circumsphere(mesh.at(a), mesh.at(b), mesh.at(c));
  return squared_length(p - sphere.centre) <= sphere.squared_radius * (1 + margin);
}

}  // namespace mesh3d
