// SPDX-License-Identifier: Apache-2.0
// The study of UTS-MPI (its figures 1 to 4) on a simulated cluster: chunk size and interval of stealing and of sharing.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
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
  std::vector<std::uint32_t> chunks{2, 5, 10, 20, 50};
  std::vector<std::uint32_t> intervals{1, 4, 8, 16, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::uint32_t> ranks{1, 2, 4, 8, 16, 32, 64};
  std::uint32_t ranks_of_intervals = 32;  // figures 1 and 2
  std::uint64_t seeds = 3;                // where settings are compared
  std::vector<mode> modes{};
  std::string machine = "today", json, svg;
  std::optional<double> descriptor_ns{};  // empty: the machine's
  bool small = false;
};

/// The fixed intervals of figures 3 and 4: what figures 1 and 2 show to be good for both trees, and on the paper's
/// machine the paper's own.
std::uint32_t good_interval(const plan& plan, mode mode) {
  if (plan.machine == "paper") return mode == mode::steal ? 8 : 128;
  return mode == mode::steal ? 256 : 512;
}

/// Who shares looks for nothing while it works, but a simulated rank does after each interval; so the shortest ones,
/// where that would count, are for stealing.
std::vector<std::uint32_t> intervals_of(const plan& plan, mode mode) {
  std::vector<std::uint32_t> all = plan.intervals;
  if (mode == mode::share) std::erase_if(all, [](std::uint32_t nodes) { return nodes < 16; });
  return all;
}

constexpr const char* name_of(mode mode) { return mode == mode::steal ? "stealing" : "sharing"; }

plot::chart chart_of(const laboratory& in, std::size_t tree, mode mode, std::string range, std::string x_label) {
  return {.title = fmt::format("{}, {} {}: nodes", in.trees()[tree].name, name_of(mode), range),
          .x_label = std::move(x_label),
          .y_unit = "/s",
          .x_is_bytes = false};
}

plot::point at(double x, double y) { return {.x = x, .y = y}; }

/// Figures 1 and 2: speed over the interval, a line for each chunk size, and the setting that adapts itself.
plot::chart over_intervals(laboratory& in, const plan& plan, std::size_t tree, mode mode) {
  const std::uint32_t ranks = plan.ranks_of_intervals;
  const std::vector<std::uint32_t> intervals = intervals_of(plan, mode);
  plot::chart chart = chart_of(in, tree, mode, fmt::format("on {} ranks", ranks), "interval in nodes");
  std::size_t colour = 1;
  for (const std::uint32_t chunk : plan.chunks) {
    plot::line line{.name = fmt::format("chunk {}", chunk), .colour = colour++};
    for (const std::uint32_t i : intervals) line.points.push_back(at(i, in.speed({tree, mode, ranks, chunk, i})));
    chart.lines.push_back(std::move(line));
  }
  plot::line adaptive{.name = "auto", .colour = 0, .dashed = true};
  for (const std::uint32_t i : intervals) adaptive.points.push_back(at(i, in.speed({tree, mode, ranks})));
  chart.lines.push_back(std::move(adaptive));
  return chart;
}

/// Figures 3 and 4: speed over the chunk size, a line for each number of ranks.
plot::chart over_chunks(laboratory& in, const plan& plan, std::size_t tree, mode mode) {
  const std::uint32_t interval = good_interval(plan, mode);
  plot::chart chart = chart_of(in, tree, mode, fmt::format("with interval {}", interval), "chunk in nodes");
  std::size_t colour = 1;
  for (const std::uint32_t ranks : plan.ranks) {
    if (ranks < 2) continue;
    plot::line line{.name = fmt::format("{} ranks", ranks), .colour = colour++};
    for (const std::uint32_t c : plan.chunks) line.points.push_back(at(c, in.speed({tree, mode, ranks, c, interval})));
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

/// The fastest fixed setting among those measured with the first seed.
setting best_fixed(const laboratory& in, std::size_t tree, mode mode, std::uint32_t ranks) {
  setting best;
  double most = 0;
  for (const auto& [setting, speed] : in.measured()) {
    const bool asked = setting.tree == tree && setting.method == mode && setting.ranks == ranks && setting.seed == 1 &&
                       setting.chunk && setting.interval;
    if (!asked || speed <= most) continue;
    most = speed;
    best = setting;
  }
  return best;
}

/// The table: speed and efficiency of the best fixed setting and of auto on each number of ranks.
plot::chart over_ranks(laboratory& in, const plan& plan, std::size_t tree, nlohmann::json& out) {
  plot::chart chart = chart_of(in, tree, mode::steal, "and sharing", "ranks");
  std::size_t colour = 1;
  for (const mode mode : plan.modes) {
    plot::line fixed{.name = fmt::format("{}, best fixed", name_of(mode)), .colour = colour};
    plot::line adaptive{.name = fmt::format("{}, auto", name_of(mode)), .colour = colour++, .dashed = true};
    for (const std::uint32_t ranks : plan.ranks) {
      if (ranks < 2) continue;
      // Where no grid was measured: the chunks of figures 3 and 4, the best of them with other intervals, and the best
      // of those with other chunks.
      for (const std::uint32_t c : plan.chunks) in.speed({tree, mode, ranks, c, good_interval(plan, mode)});
      setting best = best_fixed(in, tree, mode, ranks);
      for (const std::uint32_t i : intervals_of(plan, mode)) in.speed({tree, mode, ranks, best.chunk, i});
      best = best_fixed(in, tree, mode, ranks);
      for (const std::uint32_t c : plan.chunks) in.speed({tree, mode, ranks, c, best.interval});
      if (mode == mode::share && ranks > plan.ranks_of_intervals) {  // where a queue that is full hides the best pair
        for (const std::uint32_t c : plan.chunks) {
          for (const std::uint32_t i : intervals_of(plan, mode)) in.speed({tree, mode, ranks, c, i});
        }
      }
      best = best_fixed(in, tree, mode, ranks);
      const double b = in.median_speed(best, plan.seeds), a = in.median_speed({tree, mode, ranks}, plan.seeds);
      fixed.points.push_back(at(ranks, b));
      adaptive.points.push_back(at(ranks, a));
      fmt::print("| {} | {} | {} | {} | {} | {:.1f} | {:.0f} % | {:.1f} | {:.0f} % | {:.2f} |\n", in.trees()[tree].name,
                 name_of(mode), ranks, *best.chunk, *best.interval, b * 1e-6, 100 * b / in.ideal() / ranks, a * 1e-6,
                 100 * a / in.ideal() / ranks, a / b);
      std::fflush(stdout);
      out.push_back({{"tree", in.trees()[tree].name},
                     {"mode", name_of(mode)},
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
  for (const std::uint32_t ranks : plan.ranks) ideal.points.push_back(at(ranks, in.ideal() * ranks));
  chart.lines.push_back(std::move(ideal));
  return chart;
}

/// A machine that searches are simulated on.
///
/// The defaults of sim are a machine of today, with nodes hashed by SHA instructions. That of the paper had Xeons of
/// 3.6 GHz, which took about a microsecond for a node, and InfiniBand under MPI: 5 us from rank to rank, of which 1 us
/// of the processor at each end, and 0.9 GB/s. What a look costs is measured by `raw_mpi_mpich --idle`: MPI_Test of
/// one receive in vain takes 0.34 of the time of a SHA-1 block in plain C++, and MPI_Testsome 0.115 for each receive,
/// two for each worker (section 3.1). The paper's machine took as many blocks for them: MVAPICH was made from MPICH.
struct machine_model {
  std::vector<std::pair<const char*, const char*>> network;
  uts::simulated_costs costs;
};

machine_model model_named(const std::string& name) {
  if (name == "today") return {{{"sim.poll", "22ns"}}, {.descriptor = 7.5e-9}};
  return {{{"sim.latency", "3us"},
           {"sim.send_overhead", "1us"},
           {"sim.receive_overhead", "1us"},
           {"sim.bandwidth", "0.9"},
           {"sim.poll", "340ns"}},
          {.node = 1e-6, .descriptor = 115e-9}};
}

laboratory set_up(const plan& plan, nacre::config machine) {
  machine_model model = model_named(plan.machine);
  for (const auto& [option, value] : model.network) machine.set(option, value, nacre::setting_source::program);
  if (plan.descriptor_ns) model.costs.descriptor = *plan.descriptor_ns * 1e-9;
  std::vector<study::known_tree> trees;
  for (const std::string& name : plan.trees) {
    uts::tree_params params = uts::find_preset(name).params;
    if (plan.small) {  // of the same series: tens of thousands of nodes
      if (params.type == uts::tree_type::binomial) params.branching /= 50;
      if (params.type == uts::tree_type::geometric) params.depth -= 3;
    }
    trees.push_back({name, params, {}});
  }
  return laboratory(std::move(machine), model.costs, std::move(trees));
}

void write(const plan& plan, const laboratory& in, const plot::page& figures, nlohmann::json table) {
  if (!plan.svg.empty()) bench::write_file(plan.svg, figures.svg());
  if (plan.json.empty()) return;
  nlohmann::json points = nlohmann::json::array();
  for (const auto& [setting, speed] : in.measured()) {
    const auto number = [](const auto& n) { return n ? nlohmann::json(*n) : nlohmann::json("auto"); };
    const uts::search_result& result = in.result(setting);
    points.push_back({{"tree", in.trees()[setting.tree].name},
                      {"mode", name_of(setting.method)},
                      {"ranks", setting.ranks},
                      {"chunk", number(setting.chunk)},
                      {"interval", number(setting.interval)},
                      {"seed", setting.seed},
                      {"nodes_per_second", speed},
                      {"seconds", result.seconds},
                      {"last_node", result.sharing.last_node},
                      {"chunks", result.sharing.chunks},
                      {"refusals", result.sharing.refusals}});
  }
  bench::write_json(plan.json, nlohmann::json({{"machine", plan.machine}, {"points", points}, {"table", table}}));
}

int run(int argc, char** argv) {
  plan plan;
  nacre::config machine = nacre::read_config(argc, argv);
  nacre::program_options options(
      "uts_study",
      "Sweeps chunk size and interval of uts --mode steal and --mode share in virtual time (UTS-MPI, figures 1 to 4).");
  options.add("--trees", plan.trees, "Named trees");
  options.add("--chunks", plan.chunks, "Nodes");
  options.add("--intervals", plan.intervals, "Nodes");
  options.add("--ranks", plan.ranks, "Numbers of ranks");
  options.add("--ranks-of-intervals", plan.ranks_of_intervals, "Ranks of figures 1 and 2");
  std::vector<std::string> modes{"steal", "share"};
  options.add("--modes", modes, "How ranks share the work").one_of({"steal", "share"});
  options.add("--seeds", plan.seeds, "Runs of each setting in the table").between(1, 100);
  options
      .add("--machine", plan.machine,
           "today: sim's defaults, 20 ns a node, 22 ns a look; paper: 1 us a node, MPI over InfiniBand of 2007")
      .one_of({"today", "paper"});
  options
      .add("--descriptor", plan.descriptor_ns,
           "ns of the manager for each of two receives for each rank, for each message; 0: it has one for all")
      .between(0.0, 1e6);
  options.add("--small", plan.small, "Smaller trees of the same kind");
  options.add("--json", plan.json, "Write what was measured to this file");
  options.add("--svg", plan.svg, "Draw the figures into this file");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  plan.modes.clear();
  for (const std::string& each : modes) plan.modes.push_back(each == "steal" ? mode::steal : mode::share);

  laboratory in = set_up(plan, machine);
  plot::page figures("UTS on simulated ranks: " + plan.machine);
  std::vector<plot::chart> rows[5];
  nlohmann::json table = nlohmann::json::array();
  for (std::size_t tree = 0; tree < in.trees().size(); ++tree) {
    for (const mode mode : plan.modes) {
      rows[mode == mode::steal ? 0 : 1].push_back(over_intervals(in, plan, tree, mode));
      rows[mode == mode::steal ? 3 : 2].push_back(over_chunks(in, plan, tree, mode));
    }
  }
  fmt::print(
      "| tree | mode | ranks | best chunk | best interval | M nodes/s | of ideal | auto | of ideal | auto / best |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t tree = 0; tree < in.trees().size(); ++tree) rows[4].push_back(over_ranks(in, plan, tree, table));
  for (auto& row : rows) {
    if (!row.empty()) figures.add_row(std::move(row));
  }
  write(plan, in, figures, std::move(table));
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
