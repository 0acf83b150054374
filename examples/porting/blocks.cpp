// SPDX-License-Identifier: Apache-2.0
// The second step of docs/porting.md: more blocks than ranks, which the runtime may move; main still takes every step.
// run: --nacre.ranks=3 --nacre.workers=2
// run: --nacre.transport=sim --nacre.ranks=5 --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// prints: the last of 100 steps changed a cell by 0.0024214
#include <nacre/nacre.hpp>

#include <cstdio>
#include <vector>

#include "plate.hpp"

constexpr int block_rows = 8, block_columns = 10;  // they fit the plate, not the ranks

struct larger {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

struct block {
  tile mine;

  void send_edges(nacre::context& ctx, nacre::array_ptr<block> all) {
    const nacre::index index = ctx.index();
    for (int side = up; side <= right; ++side) {
      const int shift = side % 2 * 2 - 1;
      const nacre::index other{index[0] + (side < left ? shift : 0), index[1] + (side < left ? 0 : shift)};
      if (all.shape().contains(other)) ctx.send<&block::take>(all[other], side ^ 1, mine.edge(side));
    }
  }
  void take(int side, const std::vector<double>& halo) { mine.set_ghosts(side, halo.data()); }
  double relax() { return mine.relax(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(mine);
  }
};

block made(const nacre::index& index) {
  return {tile(static_cast<int>(index[0]), static_cast<int>(index[1]), block_rows, block_columns)};
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto all = rt.create_array<block>(nacre::extents{block_rows, block_columns}, made);
    if (rt.rank().value() != 0) return;  // the others' workers run handlers
    double change = 0;
    for (int step = 0; step < steps; ++step) {
      rt.send<&block::send_edges>(all, all);
      rt.wait_quiescence();  // all edges have been taken
      change = rt.reduce<&block::relax>(all, larger{}).get();
    }
    std::printf("the last of %d steps changed a cell by %.7f\n", steps, change);
  });
}
