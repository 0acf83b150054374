// SPDX-License-Identifier: Apache-2.0
// A Jacobi iteration on blocks of rows that wait for their neighbours' rows and contribute to the residual.
// run: --nacre.ranks=3 --nacre.workers=2
// run: --nacre.transport=sim --nacre.ranks=5 --nacre.seed=7 --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// nacre run -n 3 --transport tcp: --nacre.workers=1
// prints: blocks and the loop agree
#include <nacre/nacre.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

using row = std::vector<double>;
constexpr int blocks = 8, rows = 6, columns = 40, steps = 30;

/// Rows of the field from row `first` on, as they are at the beginning.
std::vector<row> field(int first, int count) {
  std::vector<row> all_rows(count, row(columns));
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < columns; ++j) all_rows[i][j] = first + i == 0 || j == 0 ? 1.0 : 0.01 * (first + i);
  }
  return all_rows;
}

/// One step on the rows 1 to count of `u`; the others are the border. Returns the sum of the squared changes.
double relax(std::vector<row>& u, int count) {
  const std::vector<row> all_rows = u;
  double change = 0;
  for (int i = 1; i <= count; ++i) {
    for (int j = 1; j < columns - 1; ++j) {
      u[i][j] = (all_rows[i - 1][j] + all_rows[i + 1][j] + all_rows[i][j - 1] + all_rows[i][j + 1]) / 4;
      change += (u[i][j] - all_rows[i][j]) * (u[i][j] - all_rows[i][j]);
    }
  }
  return change;
}

struct driver {
  std::array<double, steps> residuals{};
  void on_residual(nacre::context&, std::uint64_t step, double sum) { residuals[step] = sum; }
  std::array<double, steps> all() const { return residuals; }
};

struct block {
  std::vector<row> u;  // between two border rows
  nacre::awaited<> upper(int /*step*/, row halo) {
    u.front() = std::move(halo);
    return {};
  }
  nacre::awaited<> lower(int /*step*/, row halo) {
    u.back() = std::move(halo);
    return {};
  }

  /// No barrier and no buffers: rows that come early wait in the block.
  nacre::task<void> step(nacre::context& ctx, int now, nacre::array_ptr<block> all, nacre::mobile_ptr<driver> object) {
    const auto index = ctx.index()[0];
    if (index > 0) ctx.send<&block::lower>(all[index - 1], now, u[1]);
    if (index < blocks - 1) ctx.send<&block::upper>(all[index + 1], now, u[rows]);
    if (index > 0) co_await ctx.next<&block::upper>(now);
    if (index < blocks - 1) co_await ctx.next<&block::lower>(now);
    ctx.contribute<&driver::on_residual>(now, relax(u, rows), std::plus<>{}, object);
    if (now + 1 < steps) ctx.send<&block::step>(all[index], now + 1, all, object);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(u);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto grid = rt.create_array<block>(nacre::extents{blocks}, [](nacre::index index) {
      return block{field(static_cast<int>(index[0]) * rows, rows + 2)};
    });
    if (rt.rank().value() != 0) return;
    const auto leader = rt.create<driver>();
    rt.send<&block::step>(grid, 0, grid, leader);
    rt.wait_quiescence();
    const auto values = rt.call<&driver::all>(leader).get();
    std::vector<row> u = field(0, blocks * rows + 2);
    double wrong = 0;
    for (const double each : values) wrong += std::abs(each - relax(u, blocks * rows));
    std::puts(wrong < 1e-10 ? "blocks and the loop agree" : "blocks and the loop differ");
  });
}
