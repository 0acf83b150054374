// SPDX-License-Identifier: Apache-2.0
// Particles in cells, of which a drifting blob has most: loads that repeat from step to step, under any balancer.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <defaults/parts/stepping.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <program_options.hpp>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

struct problem {
  std::int64_t cells = 32;  // in each direction, of a torus
  std::uint64_t steps = 120;
  double base = 30;   // particles of a cell far from the blob
  double peak = 280;  // more of them in its middle
  double width = 5;   // of the blob, in cells
  double drift = 4;   // cells that the blob goes in all steps
  double particle_seconds = 0.1e-6;
  std::uint64_t replan = 0;  // steps between placements by hand; 0: none
  bool reduction = false;    // a step ends when a reduction over all cells has
  bool simulated = false;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cells, steps, base, peak, width, drift, particle_seconds, replan, reduction, simulated);
  }
};

double particles_of(const problem& asked, std::int64_t x, std::int64_t y, std::uint64_t step) {
  const auto side = static_cast<double>(asked.cells);
  const double gone = asked.drift * static_cast<double>(step) / static_cast<double>(asked.steps);
  const auto away = [&](std::int64_t place, double middle) {
    const double plain = std::fabs(std::fmod(static_cast<double>(place) + 0.5 - middle, side));
    return std::min(plain, side - plain);
  };
  const double dx = away(x, 0.4 * side + gone), dy = away(y, 0.4 * side + gone / 2);
  return std::floor(asked.base + asked.peak * std::exp(-(dx * dx + dy * dy) / (2 * asked.width * asked.width)));
}

/// Which rank has which cell when somebody places them who knows all costs: pieces of a curve through all cells, whose
/// heaviest is as light as it can be.
class placement {
 public:
  placement(const problem& asked, std::uint64_t step, std::uint32_t ranks) : side_(asked.cells) {
    std::vector<double> costs;
    for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(side_ * side_); ++n) {
      const auto [x, y] = place_of(n);
      costs.push_back(particles_of(asked, x, y, step));
    }
    double least = 0, most = 0;
    for (const double each : costs) most += each;
    for (int halving = 0; halving < 50; ++halving) {
      const double middle = (least + most) / 2;
      (cut(costs, ranks, middle) ? most : least) = middle;
    }
    static_cast<void>(cut(costs, ranks, most));
  }
  [[nodiscard]] std::uint32_t rank_of(const nacre::index& index) const {
    return ranks_[static_cast<std::size_t>(index[0] * side_ + index[1])];
  }

 private:
  /// The n-th cell of Hilbert's curve, where the side is a power of two.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> place_of(std::uint64_t n) const {
    std::int64_t x = 0, y = 0;
    for (std::int64_t s = 1; s < side_; s *= 2, n /= 4) {
      const auto right = static_cast<std::int64_t>(n / 2 % 2), up = static_cast<std::int64_t>((n ^ (n / 2)) % 2);
      if (up == 0) {
        if (right == 1) {
          x = s - 1 - x;
          y = s - 1 - y;
        }
        std::swap(x, y);
      }
      x += s * right;
      y += s * up;
    }
    return {x, y};
  }
  /// Whether `ranks` pieces of at most this cost are enough; they are noted then.
  [[nodiscard]] bool cut(const std::vector<double>& costs, std::uint32_t ranks, double bound) {
    ranks_.assign(costs.size(), 0);
    std::uint32_t rank = 0;
    double sum = 0;
    for (std::uint64_t n = 0; n < costs.size(); ++n) {
      if (costs[n] > bound) return false;
      if (sum + costs[n] > bound) {
        sum = 0;
        if (++rank == ranks) return false;
      }
      sum += costs[n];
      const auto [x, y] = place_of(n);
      ranks_[static_cast<std::size_t>(x * side_ + y)] = rank;
    }
    return true;
  }
  std::int64_t side_;
  std::vector<std::uint32_t> ranks_;
};

/// The placement from a step on. Simulated ranks of a process make it once.
const placement& placement_at(const problem& asked, std::uint64_t step, std::uint32_t ranks) {
  static std::mutex guard;
  static std::map<std::uint64_t, placement> known;
  const std::scoped_lock lock(guard);
  return known.try_emplace(step, asked, step, ranks).first->second;
}

using halo = std::vector<double>;

class cell {
 public:
  void prepare(nacre::context& ctx, nacre::array_ptr<cell, nacre::by_tile> all, problem asked) {
    all_ = all;
    asked_ = asked;
    particles_.resize(static_cast<std::size_t>(4 * particles_of(asked, ctx.index()[0], ctx.index()[1], 0)));
    if (asked_.replan != 0) move(ctx);
  }
  void begin(nacre::context& ctx) {
    allowed_ = 1;
    send_halos(ctx);
    go_on(ctx);
  }
  void take(nacre::context& ctx, std::uint64_t step, halo) {
    ++come_.at(step % 2);
    go_on(ctx);
  }
  void end_of_step(nacre::context& ctx, std::uint64_t step, double) {
    allowed_ = step + 2;
    send_halos(ctx);
    go_on(ctx);
  }
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] std::uint64_t steps_done() const { return step_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, asked_, step_, allowed_, end_, particles_, come_);
  }

 private:
  void send_halos(nacre::context& ctx) {
    if (step_ == asked_.steps) return;
    static constexpr std::array<std::array<std::int64_t, 2>, 4> values{{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
    for (const auto& [right, up] : values) {
      const nacre::index index{(ctx.index()[0] + right + asked_.cells) % asked_.cells,
                               (ctx.index()[1] + up + asked_.cells) % asked_.cells};
      ctx.send<&cell::take>(all_[index], step_, halo(particles_.size() / 16));
    }
  }
  void go_on(nacre::context& ctx) {
    while (step_ < std::min(asked_.steps, allowed_) && come_.at(step_ % 2) == 4) {
      come_.at(step_ % 2) = 0;
      const double count = particles_of(asked_, ctx.index()[0], ctx.index()[1], step_);
      defaults::spend(ctx, count * asked_.particle_seconds, asked_.simulated);
      particles_.resize(static_cast<std::size_t>(4 * count));
      end_ = ctx.now();
      ++step_;
      if (asked_.reduction) {
        ctx.contribute<&cell::end_of_step>(step_ - 1, count, std::plus<>{}, all_);
      } else {
        allowed_ = step_ + 1;
        send_halos(ctx);
      }
      if (asked_.replan != 0 && step_ % asked_.replan == 0 && step_ < asked_.steps) move(ctx);
    }
  }
  void move(nacre::context& ctx) {
    const std::uint32_t rank = placement_at(asked_, step_, ctx.size()).rank_of(ctx.index());
    if (rank != ctx.rank().value()) static_cast<void>(ctx.migrate(ctx.self<cell>(), nacre::rank_id(rank)));
  }

  nacre::array_ptr<cell, nacre::by_tile> all_;
  problem asked_{};
  std::uint64_t step_ = 0, allowed_ = 0;
  double end_ = 0;                 // of its last step
  std::vector<double> particles_;  // four numbers of each
  std::array<std::uint32_t, 2> come_{};
};

double work_of(const problem& asked) {
  double sum = 0;
  for (std::uint64_t step = 0; step < asked.steps; ++step)
    for (std::int64_t x = 0; x < asked.cells; ++x)
      for (std::int64_t y = 0; y < asked.cells; ++y) sum += particles_of(asked, x, y, step);
  return sum * asked.particle_seconds;
}

defaults::outcome run(nacre::runtime& rt, const problem& asked) {
  const auto all = rt.create_array<cell>(
      nacre::extents{asked.cells, asked.cells}, [](nacre::index) { return cell(); }, nacre::by_tile{});
  rt.barrier();
  if (rt.rank().value() == 0) rt.send<&cell::prepare>(all, all, asked);
  rt.wait_quiescence();
  const nacre::rank_counters rank_counters = rt.counters();
  const double start = rt.now();
  if (rt.rank().value() == 0) rt.send<&cell::begin>(all);
  rt.wait_quiescence();
  defaults::outcome outcome = defaults::counted(rt, rank_counters);
  if (rt.rank().value() == 0) {
    const auto later = [](double a, double b) { return std::max(a, b); };
    outcome.seconds = rt.reduce<&cell::end>(all, later).get() - start;
    const auto cells = static_cast<std::uint64_t>(asked.cells * asked.cells);
    outcome.is_right = rt.reduce<&cell::steps_done>(all, std::plus<>{}).get() == cells * asked.steps;
  }
  rt.barrier();
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    problem asked;
    asked.simulated = configuration.get_string("transport") == "sim";
    std::uint64_t cells = 32;
    std::string bound = "neighbours";
    nacre::program_options options("particles",
                                   "Particles in the cells of a torus, most of them in a blob that drifts. A step of a "
                                   "cell takes time by its particles. Prints how long all steps have taken beside the "
                                   "ideal, which is the work of all steps / workers.");
    options.add("--cells", cells, "Cells in each direction, a power of two").between(1, 4096);
    options.add("--steps", asked.steps, "Steps").between(1, 1'000'000);
    options.add("--peak", asked.peak, "Particles that a cell in the middle of the blob has beyond those of others")
        .between(0, 1e9);
    options.add("--drift", asked.drift, "Cells that the blob goes in all steps").between(0, 1e6);
    options.add("--bound", bound, "What a step of a cell waits for").one_of({"neighbours", "reduction"});
    options.add("--replan", asked.replan, "Place cells by hand, by known costs, after so many steps each; 0: never");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    asked.cells = static_cast<std::int64_t>(cells);
    asked.reduction = bound == "reduction";
    bool is_right = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      const defaults::outcome outcome = run(rt, asked);
      if (rt.rank().value() == 0) is_right = defaults::print("particles", outcome, work_of(asked), rt);
    });
    return code != 0 ? code : is_right ? 0 : 3;
  } catch (const nacre::setup_error& error) {
    std::fprintf(stderr, "particles: %s\n", error.what());
    return nacre::program_options::usage_code;
  }
}
