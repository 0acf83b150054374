// SPDX-License-Identifier: Apache-2.0
// How waves scales on a simulated machine, weakly and strongly, with one patch on a rank or several. Displacements are
// computed for real; what rows and copies take of virtual time is declared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nacre/nacre.hpp>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "numerics/speed_bound.hpp"
#include "parallel/simulation.hpp"
#include "plot.hpp"
#include "setup/description.hpp"

namespace {

struct plan {
  std::vector<std::uint32_t> ranks{1, 16, 256, 1024};
  std::vector<std::uint32_t> patches{1, 4};  ///< on each rank
  std::uint32_t side = 24, length = 48, steps = 4;
  double least = 0;  ///< efficiency
  std::string machine = NACRE_MACHINES "/perlmutter_cpu.toml", json, svg;
};

/// One run: `blocks` blocks of side x side x length points on `ranks` ranks.
struct setting {
  std::uint32_t ranks = 1, blocks = 1, patches = 1;
};
struct row {
  std::string kind;
  setting conditions;
  double seconds = 0;        ///< of a step
  std::uint64_t digest = 0;  ///< of the last displacement
  double efficiency = 0;     ///< the time of one rank over this, and over the ranks where the grid is the same
};

/// Factors of a number that are nearly equal.
std::pair<std::uint32_t, std::uint32_t> nearly_square(std::uint32_t number) {
  auto small = static_cast<std::uint32_t>(std::sqrt(number));
  while (number % small != 0) --small;
  return {small, number / small};
}

waves::description rock_of(const plan& plan, std::uint32_t blocks) {
  const auto [y, z] = nearly_square(blocks);
  waves::description rock;
  rock.name = "scaling";
  rock.h = 1;
  rock.size = {plan.length - 1.0, y * plan.side - 1.0, z * plan.side - 1.0};
  rock.layers = 0;
  rock.top = waves::top_side::as_other_sides;
  rock.material.layers = {{0, waves::isotropic::of_speeds(2, 1, 1)}};
  rock.initial.random = true;
  rock.time = plan.steps * rock.step / std::sqrt(greatest_speed_squared(rock.material, rock.top));
  check(rock);
  return rock;
}

/// Virtual seconds of a step, and the digest.
std::pair<double, std::uint64_t> measure(const nacre::config& machine, const plan& plan, const setting& setting) {
  nacre::config asked = machine;
  asked.set("ranks", std::to_string(setting.ranks));
  const auto problem =
      std::make_shared<const waves::problem>(make_problem(rock_of(plan, setting.blocks), waves::best_kernels()));
  const waves::run_options options{
      .patches = setting.ranks * setting.patches, .chunk = plan.steps, .is_simulated = true};
  waves::outcome outcome;
  const int failed = nacre::run(asked, [&](nacre::runtime& rt) {
    waves::outcome result = simulate(rt, {problem}, options, {});
    if (rt.rank() == nacre::rank_id{0}) outcome = std::move(result);
  });
  if (failed != 0) throw std::runtime_error("a simulated run has failed");
  return {outcome.seconds / problem->steps, outcome.digest};
}

class study {
 public:
  study(nacre::config machine, plan plan) : machine_(std::move(machine)), plan_(std::move(plan)) {
    machine_.set("transport", "sim");
    machine_.set("workers", "1");
    machine_.set("balancer", "none");
    machine_.set("sim.machine", plan_.machine);
    if (!machine_.was_set("sim.ranks_per_host")) machine_.set("sim.ranks_per_host", "128");
  }

  std::vector<row> run() {
    fmt::print("{:8}{:>8}{:>10}{:>10}{:>14}{:>12}\n", "scaling", "ranks", "patches", "points", "us a step",
               "efficiency");
    const std::uint32_t most = *std::max_element(plan_.ranks.begin(), plan_.ranks.end());
    for (const std::uint32_t patches : plan_.patches) {
      for (const std::uint32_t ranks : plan_.ranks) add("weak", {ranks, ranks, patches});
    }
    for (const std::uint32_t ranks : plan_.ranks) add("strong", {ranks, most, most / ranks});
    return rows_;
  }

 private:
  void add(const std::string& kind, const setting& setting) {
    const auto [seconds, digest] = measure(machine_, plan_, setting);
    row next{kind, setting, seconds, digest, 1};
    for (const row& each : rows_) {
      if (each.conditions.blocks == setting.blocks && each.digest != digest)
        throw std::runtime_error("two runs of a grid differ");
    }
    const auto first = std::find_if(rows_.begin(), rows_.end(), [&](const row& each) {
      return each.kind == kind && (kind == "strong" || each.conditions.patches == setting.patches);
    });
    if (first != rows_.end()) {
      const double fewer = kind == "weak" ? 1.0 : static_cast<double>(first->conditions.ranks) / setting.ranks;
      next.efficiency = first->seconds * fewer / next.seconds;
    }
    fmt::print("{:8}{:>8}{:>10}{:>10}{:>14.2f}{:>12.3f}\n", kind, setting.ranks, setting.patches,
               setting.blocks * plan_.side * plan_.side * plan_.length, 1e6 * next.seconds, next.efficiency);
    rows_.push_back(next);
  }

  nacre::config machine_;
  plan plan_;
  std::vector<row> rows_;
};

nlohmann::ordered_json json_of(const std::vector<row>& rows) {
  auto all = nlohmann::ordered_json::array();
  for (const row& each : rows) {
    all.push_back({{"kind", each.kind},
                   {"ranks", each.conditions.ranks},
                   {"blocks", each.conditions.blocks},
                   {"patches", each.conditions.patches},
                   {"seconds", each.seconds},
                   {"efficiency", each.efficiency}});
  }
  return all;
}

std::string svg_of(const std::vector<row>& rows) {
  plot::chart chart{.title = "Waves on simulated ranks: part of the ideal",
                    .x_label = "ranks",
                    .y_unit = "",
                    .x_is_bytes = false,
                    .kind = plot::axes::share,
                    .lines = {}};
  for (const row& each : rows) {
    const std::string name = each.kind == "strong" ? "strong" : fmt::format("weak, {} a rank", each.conditions.patches);
    if (chart.lines.empty() || chart.lines.back().name != name) {
      chart.lines.push_back({.name = name, .colour = chart.lines.size() + 1});
    }
    chart.lines.back().points.push_back({.x = static_cast<double>(each.conditions.ranks), .y = each.efficiency});
  }
  plot::page page("Elastic waves");
  page.add_row({chart});
  return page.svg();
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("waves_scaling", [&] {
    const nacre::config machine = nacre::read_config(argc, argv);
    plan plan;
    nacre::program_options options("waves_scaling", "Weak and strong scaling of waves on a simulated machine.");
    options.add("--ranks", plan.ranks, "Ranks of one worker; efficiency is that of the first number")
        .between(1, 100'000);
    options.add("--patches", plan.patches, "Patches on each rank, for weak scaling").between(1, 1024);
    options.add("--side", plan.side, "Points along y and z of what each rank has, or of the finest cut")
        .between(8, 512);
    options.add("--length", plan.length, "Points along x").between(16, 4096);
    options.add("--steps", plan.steps, "Steps").between(1, 10'000);
    options.add("--least", plan.least, "Exit with 1 if an efficiency is below this").between(0, 1);
    options.add("--machine", plan.machine, "Machine file").called("FILE").otherwise("machines/perlmutter_cpu.toml");
    options.add("--json", plan.json, "Write all figures to this file").called("FILE");
    options.add("--svg", plan.svg, "Draw the efficiencies into this file").called("FILE");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    const std::vector<row> rows = study(machine, plan).run();
    bench::write_json(plan.json, json_of(rows));
    if (!plan.svg.empty()) bench::write_file(plan.svg, svg_of(rows));
    const bool good =
        std::all_of(rows.begin(), rows.end(), [&](const row& each) { return each.efficiency >= plan.least; });
    return good ? 0 : 1;
  });
}
