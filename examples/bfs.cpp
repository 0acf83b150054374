// SPDX-License-Identifier: Apache-2.0
// Breadth-first search over all ranks: vertices live in a map, and the next frontier in a bag.
//
// nacre run -n 2: --nacre.workers=1
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4
// prints: all distances right
#include <cstdio>
#include <functional>
#include <vector>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

constexpr int count = 2000;

struct vertex {
  std::vector<int> neighbours;
  int distance = -1;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(neighbours, distance);
  }
};

static std::vector<int> neighbours_of(int v) { return {(v * 7 + 1) % count, (v * v + 3) % count, (v + 41) % count}; }

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    nacre::map<int, vertex> graph(rt);
    for (int v = int(rt.rank().value()); v < count; v += int(rt.size())) graph.insert(v, {neighbours_of(v), -1});
    nacre::bag<int> frontier(rt), next(rt);
    if (rt.rank().value() == 0) frontier.insert(0);
    rt.wait_quiescence();
    for (int level = 0; frontier.size() != 0; ++level) {
      frontier.for_all([&](int v) {
        graph.visit(
            v,
            [](nacre::context& ctx, int, vertex& node, int now, nacre::bag_handle<int> reached) {
              if (node.distance != -1) return;
              node.distance = now;
              for (const int each : node.neighbours) reached.insert(ctx, each);
            },
            level, next.handle());
      });
      rt.wait_quiescence();
      frontier.clear();
      frontier.swap(next);
    }
    std::vector<int> queue{0}, expected(count, -1);
    expected[0] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const int each : neighbours_of(queue[i])) {
        if (expected[each] == -1) expected[each] = expected[queue[i]] + 1, queue.push_back(each);
      }
    }
    bool right = true;
    graph.for_all([&](int v, const vertex& node) { right &= node.distance == expected[v]; });
    right = rt.all_reduce(right, std::logical_and<>{});
    if (rt.rank().value() == 0) std::puts(right ? "all distances right" : "WRONG");
  });
}
