// SPDX-License-Identifier: Apache-2.0
// The third step of docs/porting.md: no barrier. A block takes a step as soon as its neighbours have sent their edges.
// run: --nacre.ranks=3 --nacre.workers=2
// run: --nacre.transport=sim --nacre.ranks=5 --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// prints: the last of 100 steps changed a cell by 0.0024214
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "plate.hpp"

constexpr int block_rows = 8, block_columns = 10;

struct larger {
  double operator()(double a, double b) const { return a < b ? b : a; }
};

struct driver {
  double last = 0;
  void on_change(nacre::context&, std::uint64_t step, double change) {
    if (step + 1 == steps) last = change;
  }
  double get() const { return last; }
};

struct block {
  tile mine;

  nacre::awaited<> take(int /*step*/, int side, const std::vector<double>& halo) {
    mine.set_ghosts(side, halo.data());
    return {};
  }
  nacre::task<void> step(nacre::context& ctx, int now, nacre::array_ptr<block> all, nacre::mobile_ptr<driver> leader) {
    const nacre::index index = ctx.index();
    int count = 0;
    for (int side = up; side <= right; ++side) {
      const int shift = side % 2 * 2 - 1;
      const nacre::index other{index[0] + (side < left ? shift : 0), index[1] + (side < left ? 0 : shift)};
      if (!all.shape().contains(other)) continue;
      ctx.send<&block::take>(all[other], now, side ^ 1, mine.edge(side));
      ++count;
    }
    co_await ctx.next_n<&block::take>(now, count);  // those of this step; what comes early waits in the block
    ctx.contribute<&driver::on_change>(now, mine.relax(), larger{}, leader);
    if (now + 1 < steps) ctx.send<&block::step>(all[index], now + 1, all, leader);
  }
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
    if (rt.rank().value() != 0) return;
    const nacre::mobile_ptr<driver> leader = rt.create<driver>();
    rt.send<&block::step>(all, 0, all, leader);
    rt.wait_quiescence();
    std::printf("the last of %d steps changed a cell by %.7f\n", steps, rt.call<&driver::get>(leader).get());
  });
}
