// SPDX-License-Identifier: Apache-2.0
// Builds the tree by medians, and walks it.
#include "surface/triangle_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "geometry/predicates.hpp"

namespace mesh3d {
namespace {

constexpr std::uint32_t triangles_a_leaf = 4;

/// Around long thin triangles the turned box has less than this part of the other one's area; around a flat part of a
/// smooth surface it has more, and would not pay.
constexpr double turned_area_max = 0.15;

double half_area(const point& low, const point& high) {
  const point size = high - low;
  return size.x * size.y + size.y * size.z + size.z * size.x;
}

bool has_corner(const surface_mesh::triangle& triangle, std::uint32_t v) {
  return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

double squared_distance(const point& p, const point& low, const point& high) {
  const point out{std::max({low.x - p.x, p.x - high.x, 0.0}), std::max({low.y - p.y, p.y - high.y, 0.0}),
                  std::max({low.z - p.z, p.z - high.z, 0.0})};
  return squared_length(out);
}

/// The sign of the turn a, b, p as seen from above, for a p that is moved by (e, e * e) with an infinitely small e. 0
/// only where a and b are above each other.
int turn(const point& a, const point& b, const point& p) {
  const double value = orient({a.x, a.y, 0}, {b.x, b.y, 0}, {p.x, p.y, 0}, {a.x, a.y, 1});
  if (value != 0) return value > 0 ? 1 : -1;
  if (a.y != b.y) return a.y > b.y ? 1 : -1;
  return a.x == b.x ? 0 : b.x > a.x ? 1 : -1;
}

/// Whether the vertical ray upwards from `p`, moved as in `turn`, meets the triangle.
bool ray_meets(const point& p, const std::array<point, 3>& points) {
  const auto& [a, b, c] = points;
  const int first = turn(a, b, p);
  if (first == 0 || turn(b, c, p) != first || turn(c, a, p) != first) return false;
  // Seen from above, the triangle turns left when `first` is positive; it is above p when p is on its lower side.
  const double side = orient(a, b, c, p);
  return first > 0 ? side < 0 : side > 0;
}

}  // namespace

point nearest_on_triangle(const point& p, const std::array<point, 3>& corner) noexcept {
  const auto& [a, b, c] = corner;
  const auto on_edge = [&p](const point& source, const point& target) {
    const double square = squared_length(target - source);
    const double t = square > 0 ? std::clamp(dot(p - source, target - source) / square, 0.0, 1.0) : 0;
    return source + (target - source) * t;
  };
  const point u = b - a, v = c - a, normal = cross(u, v);
  const double square = squared_length(normal);
  if (square > 0) {
    const double s = dot(cross(p - a, v), normal), t = dot(cross(u, p - a), normal);
    if (s >= 0 && t >= 0 && s + t <= square) return a + u * (s / square) + v * (t / square);
  }
  point best = on_edge(a, b);
  for (const point& other : {on_edge(b, c), on_edge(c, a)}) {
    if (squared_length(p - other) < squared_length(p - best)) best = other;
  }
  return best;
}

bool meets(const point& source, const point& target, const std::array<point, 3>& corner) noexcept {
  const auto& [a, b, c] = corner;
  const double start = orient(a, b, c, source), end = orient(a, b, c, target);
  if ((start > 0 && end > 0) || (start < 0 && end < 0) || (start == 0 && end == 0)) return false;
  const double ab = orient(source, target, a, b), bc = orient(source, target, b, c), ca = orient(source, target, c, a);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

triangle_tree::triangle_tree(const surface_mesh& mesh, std::vector<double> lengths)
    : mesh_(&mesh), lengths_(std::move(lengths)), order_(mesh.triangles.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  if (!order_.empty()) build(0, static_cast<std::uint32_t>(order_.size()));
}

triangle_tree::node triangle_tree::bounds(std::uint32_t begin, std::uint32_t end) {
  constexpr double far = std::numeric_limits<double>::infinity();
  const std::span<const std::uint32_t> values(order_.data() + begin, end - begin);
  node node{{far, far, far}, {-far, -far, -far}, far, 0, begin, end - begin, nothing, nothing};
  for (const std::uint32_t t : values) {
    for (const point& p : mesh_->corners(t)) {
      node.low = {std::min(node.low.x, p.x), std::min(node.low.y, p.y), std::min(node.low.z, p.z)};
      node.high = {std::max(node.high.x, p.x), std::max(node.high.y, p.y), std::max(node.high.z, p.z)};
    }
    node.length_min = std::min(node.length_min, lengths_[t]);
    node.length_max = std::max(node.length_max, lengths_[t]);
  }
  for (const std::uint32_t v : mesh_->triangles[values.front()]) {
    const auto has = [&](std::uint32_t t) { return has_corner(mesh_->triangles[t], v); };
    if (node.common == nothing && std::all_of(values.begin(), values.end(), has)) node.common = v;
  }
  const oriented_box turned = box_around(*mesh_, values);
  if (half_area(turned.low, turned.high) < turned_area_max * half_area(node.low, node.high)) {
    node.turned = static_cast<std::uint32_t>(turned_.size());
    turned_.push_back(turned);
  }
  return node;
}

double triangle_tree::square_to(const node& node, const point& p, double counts) const noexcept {
  const double square = squared_distance(p, node.low, node.high);
  if (node.turned == nothing || square > counts) return square;
  return std::max(square, turned_[node.turned].squared_distance(p));
}

bool triangle_tree::line_meets_node(const node& node, const point& position, const point& way,
                                    double leave) const noexcept {
  if (!line_meets(position, way, 0, leave, node.low, node.high)) return false;
  if (node.turned == nothing) return true;
  const oriented_box& box = turned_[node.turned];
  return line_meets(box.coordinates(position), box.coordinates(way), 0, leave, box.low, box.high);
}

/// Halves by the centres of the triangles: these lie apart also where long triangles lie side by side.
void triangle_tree::build(std::uint32_t begin, std::uint32_t end) {
  const std::size_t n = nodes_.size();
  nodes_.push_back(bounds(begin, end));
  if (end - begin <= triangles_a_leaf) return;
  const auto centre = [&](std::uint32_t t) {
    const auto [a, b, c] = mesh_->corners(t);
    return a + b + c;
  };
  point low = centre(order_[begin]), high = low;
  for (std::uint32_t k = begin; k < end; ++k) {
    const point position = centre(order_[k]);
    low = {std::min(low.x, position.x), std::min(low.y, position.y), std::min(low.z, position.z)};
    high = {std::max(high.x, position.x), std::max(high.y, position.y), std::max(high.z, position.z)};
  }
  const point extent = high - low;
  const unsigned axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
  const std::uint32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](std::uint32_t s, std::uint32_t t) {
                     const double x = coordinate(centre(s), axis), y = coordinate(centre(t), axis);
                     return x != y ? x < y : s < t;
                   });
  build(begin, middle);
  nodes_[n].count = 0;
  nodes_[n].first = static_cast<std::uint32_t>(nodes_.size());
  build(middle, end);
}

template <class Enter, class Leaf>
void triangle_tree::walk(Enter enter, Leaf leaf) const {
  if (nodes_.empty()) return;
  std::array<std::uint32_t, depth_max> waiting;
  std::size_t count = 0;
  waiting[count++] = 0;
  while (count > 0) {
    const std::uint32_t n = waiting[--count];
    const node& node = nodes_[n];
    if (!enter(node)) continue;
    for (std::uint32_t k = 0; k < node.count; ++k) leaf(order_[node.first + k]);
    if (node.count != 0) continue;
    waiting[count++] = node.first;
    waiting[count++] = n + 1;
  }
}

template <class Bound, class Skip, class Leaf>
void triangle_tree::walk_nearest_first(Bound bound, Skip skip, Leaf leaf) const {
  if (nodes_.empty()) return;
  struct entry {
    double bound;
    std::uint32_t n;
  };
  std::array<entry, depth_max> waiting;  // not set to anything, which would take as long as a query
  std::size_t count = 0;
  waiting[count++] = {bound(nodes_[0]), 0};
  while (count > 0) {
    const auto [least, n] = waiting[--count];
    const node& node = nodes_[n];
    if (skip(node, least)) continue;
    for (std::uint32_t k = 0; k < node.count; ++k) leaf(order_[node.first + k]);
    if (node.count != 0) continue;
    entry near{bound(nodes_[n + 1]), n + 1}, far{bound(nodes_[node.first]), node.first};
    if (far.bound < near.bound) std::swap(near, far);
    waiting[count++] = far;
    waiting[count++] = near;
  }
}

bool triangle_tree::inside(const point& p, const std::function<bool(std::uint32_t)>& counts) const {
  bool odd = false;
  walk(
      [&](const node& node) {
        return node.low.x <= p.x && p.x <= node.high.x && node.low.y <= p.y && p.y <= node.high.y &&
               p.z <= node.high.z && line_meets_node(node, p, {0, 0, 1}, node.high.z - p.z);
      },
      [&](std::uint32_t t) {
        if (counts != nullptr && !counts(t)) return;
        odd ^= ray_meets(p, mesh_->corners(t));
      });
  return odd;
}

std::optional<point> triangle_tree::first_crossing(const point& source, const point& target) const {
  const point way = target - source;
  double first = 2;  // as a part of the way
  walk([&](const node& node) { return line_meets_node(node, source, way, std::min(first, 1.0)); },
       [&](std::uint32_t t) {
         const std::array<point, 3> corner = mesh_->corners(t);
         if (!meets(source, target, corner)) return;
         const auto& [a, b, c] = corner;
         const double start = orient(a, b, c, source), end = orient(a, b, c, target);
         first = std::min(first, start / (start - end));
       });
  if (first > 1) return std::nullopt;
  return source + way * first;
}

std::optional<point> triangle_tree::nearest(const point& p, double distance_max) const {
  std::optional<point> best;
  double least = distance_max * distance_max;
  walk_nearest_first([&](const node& site) { return square_to(site, p, least); },
                     [&](const node&, double bound) { return bound > least; },
                     [&](std::uint32_t t) {
                       const point position = nearest_on_triangle(p, mesh_->corners(t));
                       const double square = squared_length(p - position);
                       // Of points at one distance the least one is taken, in whichever order the triangles come.
                       if (square > least || (best && square == least && !(position < *best))) return;
                       least = square;
                       best = position;
                     });
  return best;
}

double triangle_tree::length_near(const point& p, double factor, double growth, double most) const noexcept {
  constexpr double tolerance = 0.2, far = 1e100;
  double least = most;
  walk_nearest_first(
      [&](const node& node) {
        const double own_value = node.length_min * factor, reach = growth > 0 ? (least - own_value) / growth : far;
        return own_value + growth * std::sqrt(square_to(node, p, reach > 0 ? reach * reach : 0));
      },
      [&](const node& node, double bound) {
        if (bound >= least * (1 - tolerance)) return true;
        const double spread = (node.length_max - node.length_min) * factor;
        const double room = bound * tolerance - spread;
        if (room < 0 || growth * growth * squared_length(node.high - node.low) > room * room) return false;
        least = std::min(least, bound);
        return true;
      },
      [&](std::uint32_t t) {
        const double distance = std::sqrt(squared_length(p - nearest_on_triangle(p, mesh_->corners(t))));
        least = std::min(least, lengths_[t] * factor + growth * distance);
      });
  return least;
}

std::size_t triangle_tree::for_each_near(const std::array<std::uint32_t, 2>& edge,
                                         const std::function<bool(std::uint32_t)>& see) const {
  const point &point = mesh_->points[edge[0]], way = mesh_->points[edge[1]] - point;
  bool go_on = true;
  std::size_t looked = 0;
  walk(
      [&](const node& node) {
        ++looked;
        return go_on && node.common != edge[0] && node.common != edge[1] && line_meets_node(node, point, way, 1);
      },
      [&](std::uint32_t t) {
        const auto& value = mesh_->triangles[t];
        if (go_on && !has_corner(value, edge[0]) && !has_corner(value, edge[1])) go_on = see(t);
      });
  return looked;
}

void triangle_tree::for_each_in(const point& low, const point& high,
                                const std::function<bool(std::uint32_t)>& see) const {
  bool go_on = true;
  walk(
      [&](const node& node) {
        return go_on && node.low.x <= high.x && node.low.y <= high.y && node.low.z <= high.z && node.high.x >= low.x &&
               node.high.y >= low.y && node.high.z >= low.z;
      },
      [&](std::uint32_t t) { go_on = go_on && see(t); });
}

}  // namespace mesh3d
