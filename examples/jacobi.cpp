// SPDX-License-Identifier: Apache-2.0
// A two-dimensional Jacobi iteration on an array of mobile objects that keep moving, checked against a loop.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=5 --nacre.seed=7
// nacre run -n 2: --nacre.workers=1
// Killed ranks cost no work: nacre run -n 3 --survive restart ./jacobi --nacre.checkpoint.folder=images
// prints: the array and the loop agree
#include <nacre/nacre.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

constexpr int side = 8, rounds = 20;

double first_value(int i, int j) { return i == 0 ? 1.0 : 0.1 * j; }

/// One point: the mean of its neighbours in each round; those on the border stay as they are.
struct point {
  double value = 0, sum = 0;

  void share(nacre::context& ctx, nacre::array_ptr<point> grid) const {
    const nacre::index index = ctx.index();
    for (const auto& [down, right] : {std::array{-1, 0}, std::array{1, 0}, std::array{0, -1}, std::array{0, 1}}) {
      const nacre::index next{index[0] + down, index[1] + right};
      if (grid.shape().contains(next)) ctx.send<&point::take>(grid[next], value);
    }
  }
  void take(double neighbour) { sum += neighbour; }
  void update(nacre::context& ctx, int round) {
    const nacre::index index = ctx.index();
    if (index[0] > 0 && index[0] < side - 1 && index[1] > 0 && index[1] < side - 1) value = sum / 4;
    sum = 0;
    if ((index[0] + index[1] + round) % 3 == 0) {
      ctx.migrate(ctx.self<point>(), nacre::rank_id((ctx.rank().value() + 1) % ctx.size()));
    }
  }
  double norm() const { return value * value; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(value, sum);
  }
};

double norm_by_a_loop() {
  std::vector<double> now(side * side);
  for (int index = 0; index < side * side; ++index) now[index] = first_value(index / side, index % side);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> values = now;
    for (int i = 1; i < side - 1; ++i) {
      for (int j = 1; j < side - 1; ++j) {
        const int index = i * side + j;
        now[index] = (values[index - side] + values[index + side] + values[index - 1] + values[index + 1]) / 4;
      }
    }
  }
  double sum = 0;
  for (const double each : now) sum += each * each;
  return sum;
}

struct progress {
  nacre::array_ptr<point> grid;
  int step = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(grid, step);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    auto p = rt.restored<progress>().value_or(progress{});  // empty in a first start
    if (!p.grid) {
      p.grid = rt.create_array<point>(nacre::extents{side, side}, [](nacre::index ij) {
        return point{first_value(static_cast<int>(ij[0]), static_cast<int>(ij[1])), 0};
      });
    }
    const bool leads = rt.rank().value() == 0;
    rt.steps(p, rounds, [&](const progress& now) {
      if (leads) rt.send<&point::share>(now.grid, now.grid);
      rt.wait_quiescence();  // every point has what its neighbours had
      if (leads) rt.send<&point::update>(now.grid, now.step);
    });
    if (!leads) return;
    const double norm = rt.reduce<&point::norm>(p.grid, std::plus<>{}).get();
    std::puts(std::abs(norm - norm_by_a_loop()) < 1e-12 ? "the array and the loop agree" : "they differ");
  });
}
