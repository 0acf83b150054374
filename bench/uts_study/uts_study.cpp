// SPDX-License-Identifier: Apache-2.0
// The study of UTS-MPI (its figures 1 to 4) on a simulated cluster: chunk size and interval of stealing and of sharing.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "plot.hpp"
#include "presets.hpp"
#include "search.hpp"
#include "uts_study/parts/measure.hpp"

namespace {

using study::laboratory;
using study::mode;
using study::setting;

struct plan {
  std::vector<std::string> trees{"T1", "T3"};
  std::vector<std::uint32_t> chunks{2, 5, 10, 20, 50, 100};
  std::vector<std::uint32_t> intervals{16, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::uint32_t> ranks{1, 2, 4, 8, 16, 32, 64};
  std::uint32_t ranks_of_intervals = 32;  // figures 1 and 2
  std::uint64_t seeds = 3;                // where settings are compared
  std::string machine = "today", json, svg;
  bool small = false;
};

/// The fixed intervals of figures 3 and 4: what figures 1 and 2 show to be good for both trees, and on the paper's
/// machine the paper's own for sharing. For stealing that is 8; a group of hashes has 64.
std::uint32_t good_interval(const plan& how, mode by) {
  if (how.machine == "paper") return by == mode::steal ? 64 : 128;
  return by == mode::steal ? 256 : 512;
}

constexpr const char* name_of(mode by) { return by == mode::steal ? "stealing" : "sharing"; }

plot::chart chart_of(const laboratory& in, std::size_t tree, mode by, std::string over, std::string x_label) {
  return {.title = fmt::format("{}, {} {}: nodes", in.trees()[tree].name, name_of(by), over),
          .x_label = std::move(x_label),
          .y_unit = "/s",
          .x_is_bytes = false};
}

plot::point at(double x, double y) { return {.x = x, .y = y}; }

/// Figures 1 and 2: speed over the interval, a line for each chunk size, and the setting that adapts itself.
plot::chart over_intervals(laboratory& in, const plan& how, std::size_t tree, mode by) {
  const std::uint32_t ranks = how.ranks_of_intervals;
  plot::chart chart = chart_of(in, tree, by, fmt::format("on {} ranks", ranks), "interval in nodes");
  std::size_t colour = 1;
  for (const std::uint32_t chunk : how.chunks) {
    plot::line line{.name = fmt::format("chunk {}", chunk), .colour = colour++};
    for (const std::uint32_t i : how.intervals) line.points.push_back(at(i, in.speed({tree, by, ranks, chunk, i})));
    chart.lines.push_back(std::move(line));
  }
  plot::line adaptive{.name = "auto", .colour = 0, .dashed = true};
  for (const std::uint32_t i : how.intervals) adaptive.points.push_back(at(i, in.speed({tree, by, ranks})));
  chart.lines.push_back(std::move(adaptive));
  return chart;
}

/// Figures 3 and 4: speed over the chunk size, a line for each number of ranks.
plot::chart over_chunks(laboratory& in, const plan& how, std::size_t tree, mode by) {
  const std::uint32_t interval = good_interval(how, by);
  plot::chart chart = chart_of(in, tree, by, fmt::format("with interval {}", interval), "chunk in nodes");
  std::size_t colour = 1;
  for (const std::uint32_t ranks : how.ranks) {
    if (ranks < 2) continue;
    plot::line line{.name = fmt::format("{} ranks", ranks), .colour = colour++};
    for (const std::uint32_t c : how.chunks) line.points.push_back(at(c, in.speed({tree, by, ranks, c, interval})));
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

/// The fastest fixed setting among those measured with the first seed.
setting best_fixed(const laboratory& in, std::size_t tree, mode by, std::uint32_t ranks) {
  setting best;
  double most = 0;
  for (const auto& [of, speed] : in.measured()) {
    const bool asked = of.tree == tree && of.by == by && of.ranks == ranks && of.seed == 1 && of.chunk && of.interval;
    if (!asked || speed <= most) continue;
    most = speed;
    best = of;
  }
  return best;
}

/// The table: speed and efficiency of the best fixed setting and of auto on each number of ranks.
plot::chart over_ranks(laboratory& in, const plan& how, std::size_t tree, nlohmann::json& out) {
  plot::chart chart = chart_of(in, tree, mode::steal, "and sharing", "ranks");
  std::size_t colour = 1;
  for (const mode by : {mode::steal, mode::share}) {
    plot::line fixed{.name = fmt::format("{}, best fixed", name_of(by)), .colour = colour};
    plot::line adaptive{.name = fmt::format("{}, auto", name_of(by)), .colour = colour++, .dashed = true};
    for (const std::uint32_t ranks : how.ranks) {
      if (ranks < 2) continue;
      // Where no grid was measured: the chunks of figures 3 and 4, the best of them with other intervals, and the best
      // of those with other chunks.
      for (const std::uint32_t c : how.chunks) in.speed({tree, by, ranks, c, good_interval(how, by)});
      setting best = best_fixed(in, tree, by, ranks);
      for (const std::uint32_t i : how.intervals) in.speed({tree, by, ranks, best.chunk, i});
      best = best_fixed(in, tree, by, ranks);
      for (const std::uint32_t c : how.chunks) in.speed({tree, by, ranks, c, best.interval});
      best = best_fixed(in, tree, by, ranks);
      const double b = in.median_speed(best, how.seeds), a = in.median_speed({tree, by, ranks}, how.seeds);
      fixed.points.push_back(at(ranks, b));
      adaptive.points.push_back(at(ranks, a));
      fmt::print("| {} | {} | {} | {} | {} | {:.1f} | {:.0f} % | {:.1f} | {:.0f} % | {:.2f} |\n", in.trees()[tree].name,
                 name_of(by), ranks, *best.chunk, *best.interval, b * 1e-6, 100 * b / in.ideal() / ranks, a * 1e-6,
                 100 * a / in.ideal() / ranks, a / b);
      std::fflush(stdout);
      out.push_back({{"tree", in.trees()[tree].name},
                     {"mode", name_of(by)},
                     {"ranks", ranks},
                     {"chunk", *best.chunk},
                     {"interval", *best.interval},
                     {"best_fixed", b},
                     {"auto", a},
                     {"ideal", in.ideal() * ranks}});
    }
    chart.lines.push_back(std::move(fixed));
    chart.lines.push_back(std::move(adaptive));
  }
  plot::line ideal{.name = "ideal", .colour = 0, .dashed = true};
  for (const std::uint32_t ranks : how.ranks) ideal.points.push_back(at(ranks, in.ideal() * ranks));
  chart.lines.push_back(std::move(ideal));
  return chart;
}

/// The defaults of sim are a machine of today. That of the paper had Xeons of 3.6 GHz, which took about a microsecond
/// for a node, and InfiniBand under MPI: 5 us from rank to rank, of which 1 us of the processor at each end, and 0.9
/// GB/s. A look at whether somebody asks cost it about 0.4 us, as looking at each node made it 40 % slower. The manager
/// kept two receive descriptors for each worker (section 3.1), and MPI looks at one after the other.
laboratory set_up(const plan& how, nacre::config machine) {
  constexpr auto program = nacre::setting_source::program;
  const bool paper = how.machine == "paper";
  if (paper) {
    machine.set("sim.latency", "3us", program);
    machine.set("sim.send_overhead", "1us", program);
    machine.set("sim.receive_overhead", "1us", program);
    machine.set("sim.bandwidth", "0.9", program);
  }
  std::vector<study::known_tree> trees;
  for (const std::string& name : how.trees) {
    uts::tree_params params = uts::find_preset(name).params;
    if (how.small) {  // of the same series: tens of thousands of nodes
      if (params.type == uts::tree_type::binomial) params.branching /= 50;
      if (params.type == uts::tree_type::geometric) params.depth -= 3;
    }
    trees.push_back({name, params, {}});
  }
  const uts::simulated_costs of_paper{.node = 1e-6, .look = 0.4e-6, .descriptor = 50e-9};
  return laboratory(std::move(machine), paper ? of_paper : uts::simulated_costs(), std::move(trees));
}

void write(const plan& how, const laboratory& in, const plot::page& figures, nlohmann::json table) {
  if (!how.svg.empty()) std::ofstream(how.svg) << figures.svg();
  if (how.json.empty()) return;
  nlohmann::json points = nlohmann::json::array();
  for (const auto& [of, speed] : in.measured()) {
    const auto number = [](const auto& n) { return n ? nlohmann::json(*n) : nlohmann::json("auto"); };
    points.push_back({{"tree", in.trees()[of.tree].name},
                      {"mode", name_of(of.by)},
                      {"ranks", of.ranks},
                      {"chunk", number(of.chunk)},
                      {"interval", number(of.interval)},
                      {"seed", of.seed},
                      {"nodes_per_second", speed}});
  }
  std::ofstream(how.json) << nlohmann::json({{"machine", how.machine}, {"points", points}, {"table", table}}).dump(1);
}

int run(int argc, char** argv) {
  plan how;
  nacre::config machine = nacre::read_config(argc, argv);
  CLI::App app(
      "Sweeps chunk size and interval of uts --mode steal and --mode share in virtual time (UTS-MPI, figures 1 to 4).");
  app.add_option("--trees", how.trees, "Named trees")->delimiter(',')->capture_default_str();
  app.add_option("--chunks", how.chunks, "Nodes")->delimiter(',')->capture_default_str();
  app.add_option("--intervals", how.intervals, "Nodes")->delimiter(',')->capture_default_str();
  app.add_option("--ranks", how.ranks, "Numbers of ranks")->delimiter(',')->capture_default_str();
  app.add_option("--ranks-of-intervals", how.ranks_of_intervals, "Ranks of figures 1 and 2")->capture_default_str();
  app.add_option("--seeds", how.seeds, "Runs of each setting in the table")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--machine", how.machine,
                 "today: sim's defaults, 20 ns a node; paper: 1 us a node, MPI over InfiniBand of 2007")
      ->check(CLI::IsMember({"today", "paper"}))
      ->capture_default_str();
  app.add_flag("--small", how.small, "Smaller trees of the same kind");
  app.add_option("--json", how.json, "Write what was measured to this file");
  app.add_option("--svg", how.svg, "Draw the figures into this file");
  CLI11_PARSE(app, argc, argv);

  laboratory in = set_up(how, machine);
  plot::page figures("UTS on simulated ranks: " + how.machine);
  std::vector<plot::chart> rows[5];
  nlohmann::json table = nlohmann::json::array();
  for (std::size_t tree = 0; tree < in.trees().size(); ++tree) {
    rows[0].push_back(over_intervals(in, how, tree, mode::steal));
    rows[1].push_back(over_intervals(in, how, tree, mode::share));
    rows[2].push_back(over_chunks(in, how, tree, mode::share));
    rows[3].push_back(over_chunks(in, how, tree, mode::steal));
  }
  fmt::print(
      "| tree | mode | ranks | best chunk | best interval | M nodes/s | of ideal | auto | of ideal | auto / best |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t tree = 0; tree < in.trees().size(); ++tree) rows[4].push_back(over_ranks(in, how, tree, table));
  for (auto& row : rows) figures.add_row(std::move(row));
  write(how, in, figures, std::move(table));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "uts_study: {}\n", error.what());
    return 2;
  }
}
