// SPDX-License-Identifier: Apache-2.0
// A Jacobi iteration on tiles that are mobile objects: counted by hand, with co_await next, and as a bare loop.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <program_options.hpp>
#include <steady_seconds.hpp>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using edge = std::vector<double>;

struct problem {
  std::int64_t tiles = 16;   // in each direction, of a torus
  std::uint64_t width = 16;  // points of a tile in each direction
  std::uint64_t steps = 200;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tiles, width, steps);
  }
};

double start_value(std::int64_t x, std::int64_t y) { return static_cast<double>((x * 31 + y * 17 + x * y) % 7); }

/// The points of a tile, and one step of them.
class points {
 public:
  points() = default;
  points(std::uint64_t width, const nacre::index& index) : width_(width), values_(width * width), next_(width * width) {
    const auto side = static_cast<std::int64_t>(width);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x)
        values_[static_cast<std::size_t>(y * side + x)] = start_value(index[0] * side + x, index[1] * side + y);
    }
  }
  /// 0 to 3: the column x = 0 and the last one, the row y = 0 and the last one.
  [[nodiscard]] edge edge_of(std::uint32_t direction) const {
    edge values(width_);
    const std::size_t end = direction % 2 == 0 ? 0 : width_ - 1;
    for (std::size_t i = 0; i < width_; ++i)
      values[i] = direction < 2 ? values_[i * width_ + end] : values_[end * width_ + i];
    return values;
  }
  void relax(const std::array<edge, 4>& edges) {
    const std::size_t last = width_ - 1;
    for (std::size_t y = 0; y < width_; ++y) {
      const double* const row = values_.data() + y * width_;
      const double* const above = y == 0 ? edges[2].data() : row - width_;
      const double* const below = y == last ? edges[3].data() : row + width_;
      double* const next = next_.data() + y * width_;
      next[0] = 0.25 * (edges[0][y] + (last == 0 ? edges[1][y] : row[1]) + above[0] + below[0]);
      for (std::size_t x = 1; x < last; ++x) next[x] = 0.25 * (row[x - 1] + row[x + 1] + above[x] + below[x]);
      if (last != 0) next[last] = 0.25 * (row[last - 1] + edges[1][y] + above[last] + below[last]);
    }
    values_.swap(next_);
  }
  [[nodiscard]] double sum() const {
    double total = 0;
    for (const double each : values_) total += each;
    return total;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(width_, values_, next_);
  }

 private:
  std::uint64_t width_ = 0;
  std::vector<double> values_, next_;
};

nacre::index beside(const nacre::index& index, std::uint32_t direction, std::int64_t tiles) {
  static constexpr std::array<std::array<std::int64_t, 2>, 4> offsets{{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
  const auto& offset = offsets.at(direction);
  return {(index[0] + offset[0] + tiles) % tiles, (index[1] + offset[1] + tiles) % tiles};
}

/// Counts by hand the edges that have come.
class counting {
 public:
  void begin(nacre::context& ctx, nacre::array_ptr<counting> all, problem asked) {
    all_ = all;
    asked_ = asked;
    mine_ = points(asked.width, ctx.index());
    send_edges(ctx);
    go_on(ctx);
  }
  void take(nacre::context& ctx, std::uint64_t step, std::uint32_t source, edge values) {
    come_.at(step % 2).at(source) = std::move(values);
    ++count_.at(step % 2);
    go_on(ctx);
  }
  [[nodiscard]] double sum() const { return mine_.sum(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, asked_, step_, mine_, come_, count_);
  }

 private:
  void send_edges(nacre::context& ctx) {
    for (std::uint32_t direction = 0; direction < 4; ++direction)
      ctx.send<&counting::take>(all_[beside(ctx.index(), direction, asked_.tiles)], step_, direction ^ 1U,
                                mine_.edge_of(direction));
  }
  void go_on(nacre::context& ctx) {  // nothing before begin: there are no steps then
    while (step_ < asked_.steps && count_.at(step_ % 2) == 4) {
      mine_.relax(come_.at(step_ % 2));
      count_.at(step_ % 2) = 0;
      if (++step_ < asked_.steps) send_edges(ctx);
    }
  }

  nacre::array_ptr<counting> all_;
  problem asked_{0, 0, 0};
  std::uint64_t step_ = 0;
  points mine_;
  std::array<std::array<edge, 4>, 2> come_;  // of this step and the next one
  std::array<std::uint32_t, 2> count_{};
};

/// Waits for the edges of each step in a coroutine.
class waiting {
 public:
  nacre::awaited<> take(std::uint64_t /*step*/, std::uint32_t source, edge values) {
    come_.at(source) = std::move(values);
    return {};
  }
  nacre::task<void> begin(nacre::context& ctx, nacre::array_ptr<waiting> all, problem asked) {
    mine_ = points(asked.width, ctx.index());
    for (std::uint64_t step = 0; step < asked.steps; ++step) {
      for (std::uint32_t direction = 0; direction < 4; ++direction)
        ctx.send<&waiting::take>(all[beside(ctx.index(), direction, asked.tiles)], step, direction ^ 1U,
                                 mine_.edge_of(direction));
      co_await ctx.next_n<&waiting::take>(step, 4);
      mine_.relax(come_);
    }
  }
  [[nodiscard]] double sum() const { return mine_.sum(); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(mine_, come_);
  }

 private:
  points mine_;
  std::array<edge, 4> come_;
};

struct outcome {
  double seconds = 0, sum = 0;
};

/// The same tiles in a loop over them, on one thread: what the runtime's part is compared with.
outcome run_bare(const problem& asked) {
  std::vector<points> all;
  std::vector<std::array<edge, 4>> come(static_cast<std::size_t>(asked.tiles * asked.tiles));
  for (std::int64_t x = 0; x < asked.tiles; ++x)
    for (std::int64_t y = 0; y < asked.tiles; ++y) all.emplace_back(asked.width, nacre::index{x, y});
  const double begin = bench::steady_seconds();
  for (std::uint64_t step = 0; step < asked.steps; ++step) {
    for (std::size_t tile = 0; tile < all.size(); ++tile) {
      const nacre::index index{static_cast<std::int64_t>(tile) / asked.tiles,
                               static_cast<std::int64_t>(tile) % asked.tiles};
      for (std::uint32_t direction = 0; direction < 4; ++direction) {
        const nacre::index remote = beside(index, direction, asked.tiles);
        come[static_cast<std::size_t>(remote[0] * asked.tiles + remote[1])].at(direction ^ 1U) =
            all[tile].edge_of(direction);
      }
    }
    for (std::size_t tile = 0; tile < all.size(); ++tile) all[tile].relax(come[tile]);
  }
  outcome result{bench::steady_seconds() - begin, 0};
  for (const points& tile : all) result.sum += tile.sum();
  return result;
}

template <class Tile>
outcome run_tiles(nacre::runtime& rt, const problem& asked) {
  const auto all = rt.create_array<Tile>(nacre::extents{asked.tiles, asked.tiles});
  rt.barrier();
  const double begin = rt.now();
  if (rt.rank().value() == 0) rt.send<&Tile::begin>(all, all, asked);
  rt.wait_quiescence();
  outcome result{rt.now() - begin, 0};
  if (rt.rank().value() == 0) result.sum = rt.reduce<&Tile::sum>(all, std::plus<>{}).get();
  rt.barrier();
  return result;
}

/// The sum of all points stays, since the grid is a torus.
bool is_right(const problem& asked, double sum) {
  const auto side = asked.tiles * static_cast<std::int64_t>(asked.width);
  double expected = 0;
  for (std::int64_t x = 0; x < side; ++x)
    for (std::int64_t y = 0; y < side; ++y) expected += start_value(x, y);
  return std::fabs(sum - expected) <= 1e-6 * expected;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    problem asked;
    std::string style = "counting";
    std::uint64_t runs = 1, tiles = 16;
    nacre::program_options options("stencil",
                                   "A Jacobi iteration on a torus of tiles that are mobile objects. Prints millions of "
                                   "points in a second.");
    options.add("--tiles", tiles, "Tiles in each direction").between(1, 4096);
    options.add("--width", asked.width, "Points of a tile in each direction").between(1, 4096);
    options.add("--steps", asked.steps, "Steps of the iteration");
    options.add("--style", style, "counting by hand, co_await ctx.next_n, or a bare loop without Nacre")
        .one_of({"counting", "next", "bare"});
    options.add("--runs", runs, "Runs one after the other, of which the best is printed").between(1, 1000);
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    asked.tiles = static_cast<std::int64_t>(tiles);
    bool right = true;
    const auto report = [&](const outcome& best) {
      right = is_right(asked, best.sum);
      std::printf("stencil %s\t%.5g\tM/s\n", style.c_str(),
                  1e-6 * std::pow(static_cast<double>(asked.tiles) * static_cast<double>(asked.width), 2) *
                      static_cast<double>(asked.steps) / best.seconds);
      if (!right) std::fprintf(stderr, "stencil: the sum of all points has become %.9g\n", best.sum);
    };
    const auto best_of = [&](auto&& once) {
      outcome best = once();
      for (std::uint64_t run = 1; run < runs; ++run)
        best = std::min(best, once(), [](const outcome& a, const outcome& b) { return a.seconds < b.seconds; });
      return best;
    };
    if (style == "bare") {
      report(best_of([&] { return run_bare(asked); }));
      return right ? 0 : 3;
    }
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      const outcome best =
          best_of([&] { return style == "next" ? run_tiles<waiting>(rt, asked) : run_tiles<counting>(rt, asked); });
      if (rt.rank().value() == 0) report(best);
    });
    return code != 0 ? code : right ? 0 : 3;
  } catch (const nacre::setup_error& error) {
    std::fprintf(stderr, "stencil: %s\n", error.what());
    return nacre::program_options::usage_code;
  }
}
