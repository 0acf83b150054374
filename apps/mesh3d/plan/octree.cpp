// SPDX-License-Identifier: Apache-2.0
// Splits cubes, and finds the faces and edges that leaves share.
#include "plan/octree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace mesh3d {

std::array<cube_edge, 4> sides_of(const cube_face& face) noexcept {
  const std::uint32_t u = (face.axis + 1) % 3, v = (face.axis + 2) % 3;
  place right = face.low, up = face.low;
  right[u] += face.size;
  up[v] += face.size;
  return {cube_edge{face.low, face.size, u}, cube_edge{face.low, face.size, v}, cube_edge{right, face.size, v},
          cube_edge{up, face.size, u}};
}

octree::octree(std::uint32_t leaves_min, const weight& weight, const std::function<bool(const cube&)>& may_split) {
  nodes_.push_back({});
  std::priority_queue<std::pair<double, std::uint32_t>> heaviest;
  const auto offer = [&](std::uint32_t n) {
    const cube& box = nodes_[n].box;
    if (box.size > 1 && may_split(box)) heaviest.emplace(weight(box), n);
  };
  offer(0);
  for (std::uint32_t leaves = 1; leaves < leaves_min && !heaviest.empty(); leaves += 7) {
    const std::uint32_t n = heaviest.top().second;
    heaviest.pop();
    split(n);
    for (std::uint32_t k = 0; k < 8; ++k) offer(nodes_[n].first_child + k);
  }
  balance();
  number_leaves();
}

void octree::split(std::uint32_t n) {
  const cube box = nodes_[n].box;
  nodes_[n].first_child = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t half = box.size / 2;
  for (std::uint32_t k = 0; k < 8; ++k) {
    place low = box.low;
    for (unsigned axis = 0; axis < 3; ++axis) low[axis] += (k >> axis & 1) * half;
    nodes_.push_back({{low, half}, 0, 0});
  }
}

std::uint32_t octree::leaf_at(const place& place) const noexcept {
  std::uint32_t n = 0;
  while (nodes_[n].first_child != 0) {
    const cube& box = nodes_[n].box;
    std::uint32_t child = 0;
    for (unsigned axis = 0; axis < 3; ++axis) child |= (place[axis] >= box.low[axis] + box.size / 2 ? 1u : 0u) << axis;
    n = nodes_[n].first_child + child;
  }
  return n;
}

void octree::balance() {
  std::vector<std::uint32_t> to_look;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) to_look.push_back(n);
  while (!to_look.empty()) {
    const std::uint32_t n = to_look.back();
    to_look.pop_back();
    if (nodes_[n].first_child != 0) continue;
    const cube box = nodes_[n].box;
    for (std::uint32_t direction = 0; direction < 27; ++direction) {
      place place = box.low;
      bool inside = true;
      for (unsigned axis = 0, rest = direction; axis < 3; ++axis, rest /= 3) {
        place[axis] += (rest % 3) * box.size - box.size;  // wraps below 0
        inside = inside && place[axis] < cube_size;
      }
      if (!inside) continue;
      const std::uint32_t other = leaf_at(place);
      if (nodes_[other].box.size <= 2 * box.size) continue;
      split(other);
      for (std::uint32_t k = 0; k < 8; ++k) to_look.push_back(nodes_[other].first_child + k);
      to_look.push_back(n);
    }
  }
}

void octree::number_leaves() {
  std::vector<std::uint32_t> to_see{0};
  while (!to_see.empty()) {
    const std::uint32_t n = to_see.back();
    to_see.pop_back();
    if (nodes_[n].first_child == 0) {
      nodes_[n].number = static_cast<std::uint32_t>(ordered_.size());
      ordered_.push_back(n);
      continue;
    }
    for (std::uint32_t k = 8; k-- > 0;) to_see.push_back(nodes_[n].first_child + k);
  }
}

void octree::collect_faces(cube_face face, bool upper, std::vector<cube_face>& faces) const {
  place beyond = face.low;
  beyond[face.axis] = upper ? face.low[face.axis] : face.low[face.axis] - 1;  // wraps below 0
  if (beyond[face.axis] >= cube_size) {
    faces.push_back(face);
    return;
  }
  const node& other = nodes_[leaf_at(beyond)];
  if (other.box.size >= face.size) {
    face.neighbour = other.number;
    faces.push_back(face);
    return;
  }
  const std::uint32_t half = face.size / 2;
  for (std::uint32_t k = 0; k < 4; ++k) {
    cube_face quarter = face;
    quarter.size = half;
    quarter.low[(face.axis + 1) % 3] += (k & 1) * half;
    quarter.low[(face.axis + 2) % 3] += (k >> 1) * half;
    collect_faces(quarter, upper, faces);
  }
}

void octree::collect_edges(const cube_edge& stretch, std::vector<cube_edge>& edges) const {
  // Along the stretch, each quarter of the space around it has leaves that are all at least that long, or all shorter.
  bool shorter = false;
  for (std::uint32_t k = 0; k < 4; ++k) {
    place place = stretch.low;
    place[(stretch.axis + 1) % 3] -= k & 1;  // wraps below 0
    place[(stretch.axis + 2) % 3] -= k >> 1;
    if (std::any_of(place.begin(), place.end(), [](std::uint32_t each) { return each >= cube_size; })) continue;
    shorter = shorter || nodes_[leaf_at(place)].box.size < stretch.size;
  }
  if (!shorter) {
    edges.push_back(stretch);
    return;
  }
  cube_edge half = stretch;
  half.size /= 2;
  collect_edges(half, edges);
  half.low[stretch.axis] += half.size;
  collect_edges(half, edges);
}

std::vector<leaf_plan> octree::leaves() const {
  std::vector<leaf_plan> leaf_plans;
  for (const std::uint32_t n : ordered_) {
    leaf_plan leaf{.box = nodes_[n].box, .number = nodes_[n].number};
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      for (const bool upper : {false, true}) {
        cube_face whole{.low = leaf.box.low, .size = leaf.box.size, .axis = axis};
        if (upper) whole.low[axis] += leaf.box.size;
        collect_faces(whole, upper, leaf.faces);
      }
    }
    for (const cube_face& face : leaf.faces) {
      for (const cube_edge& side : sides_of(face)) collect_edges(side, leaf.edges);
    }
    std::sort(leaf.edges.begin(), leaf.edges.end());
    leaf.edges.erase(std::unique(leaf.edges.begin(), leaf.edges.end()), leaf.edges.end());
    leaf_plans.push_back(std::move(leaf));
  }
  return leaf_plans;
}

}  // namespace mesh3d
