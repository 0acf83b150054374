// SPDX-License-Identifier: Apache-2.0
// A Jacobi iteration on tiles that are mobile objects and send their edges to each other, without a barrier.
#include <nacre/nacre.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t side = 16;  // tiles
constexpr std::size_t width = 16;  // points of a tile

using edge = std::vector<double>;

class tile {
 public:
  void begin(nacre::context& ctx, nacre::array_ptr<tile> all, std::uint64_t steps) {
    all_ = all;
    steps_ = steps;
    const nacre::index index = ctx.index();
    for (std::size_t y = 0; y < width; ++y) {
      for (std::size_t x = 0; x < width; ++x)
        at(x, y) = static_cast<double>((index[0] * 31 + index[1] * 17 + static_cast<std::int64_t>(x * y)) % 7);
    }
    send_edges(ctx);
    go_on(ctx);
  }
  void take(nacre::context& ctx, std::uint64_t step, std::uint32_t source, edge values) {
    come_.at(step % 2).at(source) = std::move(values);
    ++count_.at(step % 2);
    go_on(ctx);
  }
  [[nodiscard]] double sum() const {
    double total = 0;
    for (const double each : points_) total += each;
    return total;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, steps_, step_, points_, come_, count_);
  }

 private:
  double& at(std::size_t x, std::size_t y) { return points_[y * width + x]; }
  [[nodiscard]] nacre::mobile_ptr<tile> neighbour(const nacre::index& index, std::uint32_t direction) const {
    static constexpr std::array<std::array<std::int64_t, 2>, 4> offsets{{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
    const auto& offset = offsets.at(direction);
    return all_[nacre::index{(index[0] + offset[0] + side) % side, (index[1] + offset[1] + side) % side}];
  }
  void send_edges(nacre::context& ctx) {
    const nacre::index index = ctx.index();
    for (std::uint32_t direction = 0; direction < 4; ++direction) {
      edge values(width);
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t end = direction % 2 == 0 ? 0 : width - 1;
        values[i] = direction < 2 ? at(end, i) : at(i, end);
      }
      ctx.send<&tile::take>(neighbour(index, direction), step_, direction ^ 1U, values);
    }
  }
  void go_on(nacre::context& ctx) {
    while (step_ < steps_ && count_.at(step_ % 2) == 4) {
      relax(come_.at(step_ % 2));
      count_.at(step_ % 2) = 0;
      if (++step_ < steps_) send_edges(ctx);
    }
  }
  void relax(const std::array<edge, 4>& edges) {
    std::vector<double> next(points_.size());
    for (std::size_t y = 0; y < width; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const double left = x == 0 ? edges[0][y] : at(x - 1, y), right = x + 1 == width ? edges[1][y] : at(x + 1, y);
        const double up = y == 0 ? edges[2][x] : at(x, y - 1), down = y + 1 == width ? edges[3][x] : at(x, y + 1);
        next[y * width + x] = 0.25 * (left + right + up + down);
      }
    }
    points_ = std::move(next);
  }

  nacre::array_ptr<tile> all_;
  std::uint64_t steps_ = 0, step_ = 0;
  std::vector<double> points_ = std::vector<double>(width * width);
  std::array<std::array<edge, 4>, 2> come_;  // of this step and the next one
  std::array<std::uint32_t, 2> count_{};
};

}  // namespace

int main(int argc, char** argv) {
  bool right = true;
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const std::uint64_t steps = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
    const auto all = rt.create_array<tile>(nacre::extents{side, side});
    rt.barrier();
    const double begin = rt.now();
    double previous = 0;
    if (rt.rank().value() == 0) rt.send<&tile::begin>(all, all, steps);
    rt.wait_quiescence();
    const double seconds = rt.now() - begin;
    if (rt.rank().value() != 0) return;
    // The grid is a torus, so the sum of all points stays.
    for (std::int64_t x = 0; x < side; ++x) {
      for (std::int64_t y = 0; y < side; ++y) {
        for (std::size_t point = 0; point < width * width; ++point)
          previous +=
              static_cast<double>((x * 31 + y * 17 + static_cast<std::int64_t>(point % width * (point / width))) % 7);
      }
    }
    const double next = rt.reduce<&tile::sum>(all, std::plus<>{}).get();
    right = std::fabs(next - previous) < 1e-6 * previous;
    std::printf("steps of tiles\t%.4g\tM/s\n",
                1e-6 * static_cast<double>(side * side) * static_cast<double>(steps) / seconds);
    if (!right) std::fprintf(stderr, "tiles: the sum is %.9g, not %.9g\n", next, previous);
  });
  return code != 0 ? code : right ? 0 : 3;
}
