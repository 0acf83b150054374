// SPDX-License-Identifier: Apache-2.0
// Every call that docs/for_charm_users.md names.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2: --nacre.workers=1
// prints: sums 12 and 4
// prints: all right
#include <nacre/nacre.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

struct tally {
  std::atomic<long> count{0};
};

struct driver {
  std::array<double, 2> sums{};
  void on_sum(nacre::context&, std::uint64_t step, double sum) { sums.at(step) += sum; }
  void print() const { std::printf("sums %.0f and %.0f\n", sums[0], sums[1]); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sums);
  }
};

struct cell {
  int x = 0;
  void step(int count) { x += count; }
  double norm() const { return x; }
  bool may_migrate() const { return x < 1000; }
  double load() const { return 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }

  void give(nacre::context& ctx, std::uint64_t step, nacre::mobile_ptr<driver> q) {
    const double value = ctx.index()[0] >= 0 ? 1 : 0;
    ctx.contribute<&driver::on_sum>(step, value, std::plus<>{}, q);
  }
  void give_in(nacre::context& ctx, nacre::section_ptr name, nacre::mobile_ptr<driver> q) {
    const std::uint64_t step = 1;
    ctx.contribute<&driver::on_sum>(name, step, 1.0, std::plus<>{}, q);
  }
};

using key = std::string;

struct named {
  long x = 0;
  void step(int count) { x += count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x);
  }
};

void handler(nacre::context& ctx) {
  if (ctx.rank().value() == 0) std::puts("all right");
}

nacre::task<double> use(nacre::context& ctx, nacre::mobile_ptr<cell> p, nacre::array_ptr<cell> grid,
                        nacre::keyed_array_ptr<named, key> cells, nacre::group_ptr<tally> g) {
  const int i = 0, j = 1;
  const key k = "k";
  ctx.send<&cell::step>(p, 5);
  ctx.send<&cell::step>(grid[{i, j}], 1);
  ctx.send<&cell::step>(grid, 1);
  ctx.send<&named::step>(cells[k], 1);
  ++ctx.local(g).count;
  const nacre::rank_id rank{ctx.size() - 1};
  ctx.migrate(p, rank);
  ctx.on_quiescence<handler>();
  const double norm = co_await ctx.call<&cell::norm>(p);
  co_return norm + ctx.workers() - ctx.workers();
}

int main(int argc, char** argv) {
  const auto main = [](nacre::runtime& rt) {
    const std::int64_t n = 3, m = 4;
    const auto make = [](const nacre::index& index) { return cell{static_cast<int>(index[0]) * 0}; };
    const auto grid = rt.create_array<cell>(nacre::extents{n, m}, make);
    const auto cells = rt.create_array<named>(nacre::keyed_by<key>{});
    const auto g = rt.create_group<tally>();
    const nacre::rank_id root{0}, rank{rt.size() - 1};
    const long value = rt.rank() == root ? 1 : 2;
    if (rt.broadcast(value, root) != 1) std::puts("the broadcast is wrong");
    if (rt.rank() == root) {
      const auto p = rt.create<cell>();
      const auto q = rt.create<driver>();
      if (rt.call<use>(root, p, grid, cells, g).get() != 5) std::puts("the norm is wrong");
      const nacre::section section(grid, nacre::index_range{{0, 0}, {1, 4}, {1, 1}});
      const nacre::section_ptr name = rt.create_section(section).get();
      rt.send<&cell::give>(grid, std::uint64_t{0}, q);
      rt.send<&cell::give_in>(section, name, q);
      static_cast<void>(rt.reduce<&cell::norm>(grid, std::plus<>{}).get());
      static_cast<void>(rt.create_on<cell>(rank, cell{}).get());
      rt.wait_quiescence();
      rt.call<&driver::print>(q).get();
    } else {
      rt.wait_quiescence();
    }
  };
  return nacre::run(argc, argv, main);
}
