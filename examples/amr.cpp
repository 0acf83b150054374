// SPDX-License-Identifier: Apache-2.0
// The program of docs/amr.md: an adaptive mesh. Cells of a quadtree are born and end as a circle moves over them.
//
// run: --nacre.ranks=3 --nacre.workers=2
// run: --nacre.transport=sim --nacre.ranks=5 --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// prints: 160 leaves, the mesh and the loop agree
#include <nacre/nacre.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>
#include <vector>

constexpr int level_max = 5, steps = 20;

struct key {  // cell (x, y) of the 2^level times 2^level cells of its level
  std::int32_t level = 0, x = 0, y = 0;
  friend auto operator<=>(const key&, const key&) = default;
  double width() const { return std::ldexp(1, -level); }
  key parent() const { return {level - 1, x / 2, y / 2}; }
  std::array<key, 4> kids() const {
    const std::int32_t l = level + 1, west = 2 * x, south = 2 * y;
    return {{{l, west, south}, {l, west, south + 1}, {l, west + 1, south}, {l, west + 1, south + 1}}};
  }
};
template <>
struct std::hash<key> {
  std::size_t operator()(const key& k) const { return ((k.level * 1024ul + k.x) * 1024 + k.y) * 2 + 1; }
};

/// Whether the circle of a step crosses a cell, which then has kids. It crosses the cell's parent then, too.
bool is_split(const key& k, int step) {
  const double width = k.width(), x = k.x * width - 0.3 - 0.02 * step, y = k.y * width - 0.5;
  const double near_x = std::max({x, -x - width, 0.0}), near_y = std::max({y, -y - width, 0.0}), square = 0.04;
  const double far_x = std::max(-x, x + width), far_y = std::max(-y, y + width);
  return k.level < level_max && near_x * near_x + near_y * near_y <= square && far_x * far_x + far_y * far_y >= square;
}
/// Finds the leaves in `k` that touch its edge: 0 to 3 for west, east, south, north.
void find_touching(const key& k, int edge, int step, std::vector<key>& keys) {
  if (!is_split(k, step)) return keys.push_back(k);
  for (const key& kid : k.kids())
    if ((edge < 2 ? kid.x : kid.y) % 2 == edge % 2) find_touching(kid, edge, step, keys);
}
/// The leaves beside the leaf `k`, as every rank can compute them.
std::vector<key> neighbours(const key& k, int step) {
  std::vector<key> keys;
  for (int edge = 0; edge < 4; ++edge) {
    const int shift = edge % 2 * 2 - 1;
    key neighbour{k.level, k.x + (edge < 2 ? shift : 0), k.y + (edge < 2 ? 0 : shift)};
    if (std::min(neighbour.x, neighbour.y) < 0 || std::max(neighbour.x, neighbour.y) >= 1 << k.level) continue;
    while (neighbour.level > 0 && !is_split(neighbour.parent(), step)) neighbour = neighbour.parent();
    find_touching(neighbour, edge ^ 1, step, keys);
  }
  return keys;
}
/// A step of the heat equation: heat flows through the edges of `k`, and the circle is hot.
double heated(const key& k, double u, const std::map<key, double>& neighbours) {
  double sum = 0;
  for (const auto& [other, value] : neighbours)
    sum += std::min(k.width(), other.width()) * (value - u) / (k.width() + other.width());
  return u + 2e-4 * sum / (k.width() * k.width()) + (k.level == level_max ? 0.01 : 0);
}

using mesh = nacre::keyed_array_ptr<struct cell, key>;

struct cell {  // flat, so it needs no serialize
  key place;
  double u = 0;
  bool is_leaf = true;

  /// Makes kids, or takes them back; returns the heat. Called again in the same step it changes nothing.
  nacre::task<double> adapt(nacre::context& ctx, mesh cells, int step) {
    const nacre::phase phase(ctx, "adapt");  // for --nacre.summary and --nacre.trace
    const bool split = is_split(place, step);
    if (is_leaf && split) {
      is_leaf = false;
      for (const key& kid : place.kids()) co_await ctx.insert(cells, kid, kid, u);
      for (const key& kid : place.kids()) co_await ctx.call<&cell::adapt>(cells[kid], cells, step);
    } else if (!is_leaf && !split) {
      u = 0;
      for (const key& kid : place.kids()) {
        u += co_await ctx.call<&cell::adapt>(cells[kid], cells, step) / 4;
        co_await ctx.erase(cells, kid);
      }
      is_leaf = true;
    }
    co_return u;
  }
  nacre::awaited<std::pair<key, double>> halo(int /*step*/, key k, double heat) { return std::pair(k, heat); }
  /// Tells the neighbours its heat, and waits for theirs.
  nacre::task<void> advance(nacre::context& ctx, mesh cells, int step) {
    if (!is_leaf) co_return;
    const nacre::phase phase(ctx, "advance");
    const std::vector<key> others = neighbours(place, step);
    for (const key& other : others) ctx.send<&cell::halo>(cells[other], step, place, u);
    const auto heats = co_await ctx.next_n<&cell::halo>(step, others.size());
    u = heated(place, u, std::map(heats.begin(), heats.end()));
  }
  /// Meshes with equal sums have equal leaves, to the last bit.
  std::uint64_t digest() const {
    return std::uint64_t{is_leaf} * std::bit_cast<std::uint64_t>(u) * std::hash<key>{}(place);
  }
};

/// The same in a loop. Returns the leaves in the end.
std::map<key, double> plain_loop() {
  std::map<key, double> leaves{{key{}, 0}};
  for (int step = 0; step < steps; ++step) {
    for (int level = level_max; level > 0; --level)
      for (const auto& [k, u] : std::map(leaves))
        if (k.level == level && !is_split(k.parent(), step)) leaves.erase(k), leaves[k.parent()] += u / 4;
    for (int level = 0; level < level_max; ++level)
      for (const auto& [k, u] : std::map(leaves))
        if (k.level == level && is_split(k, step) && leaves.erase(k))
          for (const key& kid : k.kids()) leaves[kid] = u;
    const std::map<key, double> previous = leaves;
    for (auto& [k, u] : leaves) {
      std::map<key, double> neighbour;
      for (const key& other : neighbours(k, step)) neighbour[other] = previous.at(other);
      u = heated(k, u, neighbour);
    }
  }
  return leaves;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::keyed_by<key> names{.home = nacre::by_curve{}};
    const mesh cells = rt.create_array<cell>(names, nacre::sparse);  // no cell yet
    if (rt.rank().value() == 0) {
      rt.insert(cells, key{}, key{}).get();
      for (int step = 0; step < steps; ++step) {
        rt.call<&cell::adapt>(cells, cells, step).get();  // to all cells, of which some are born and end meanwhile
        rt.call<&cell::advance>(cells, cells, step).get();
      }
      std::uint64_t expected = 0;
      const std::map<key, double> leaves = plain_loop();
      for (const auto& [k, u] : leaves) expected += cell{k, u}.digest();
      const bool same = rt.reduce<&cell::digest>(cells, std::plus<>{}).get() == expected;
      std::printf("%zu leaves, the mesh and the loop %s\n", leaves.size(), same ? "agree" : "DIFFER");
    }
    rt.wait_quiescence();
    rt.destroy(cells);
  });
}
