// SPDX-License-Identifier: Apache-2.0
// How fast does the emulator run, on one worker, on two, and on two ranks? `emulate` is run in turns on each, and PHOLD
// beside bare loops.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "emulation/parts/bare_phold.hpp"
#include "figures_file.hpp"
#include "jobs.hpp"
#include "plot.hpp"

namespace {

using namespace emulation_study;

struct plan {
  std::vector<std::string> programs{"ring", "octree", "phold10", "phold50"};
  std::vector<std::uint32_t> workers{1, 2}, ranks{2};
  std::string grid = "34x34x36", transport = "shm";
  std::uint32_t threads = 200, rounds = 2, entities_a_side = 100;
  double until_us = 10;
  int runs = 5;
  std::string json{}, svg{};
};

/// Where a program runs: so many ranks of so many workers.
struct host {
  std::uint32_t ranks = 1, workers = 1;
  [[nodiscard]] std::string text() const {
    const auto counted = [](std::uint32_t n, const char* name) {
      return fmt::format("{} {}{}", n, name, n == 1 ? "" : "s");
    };
    return ranks == 1 ? counted(workers, "worker") : counted(ranks, "rank");
  }
};

/// One line of the table: handlers a second of one program in one place, of all runs.
struct row {
  std::string program, place;
  std::vector<double> rates{};  // sorted, of handlers or messages a second
  [[nodiscard]] double median() const { return rates[rates.size() / 2]; }
};

double remote_share(const std::string& program) { return program == "phold10" ? 0.1 : 0.5; }
bool is_phold(const std::string& program) { return program.starts_with("phold"); }

std::vector<std::string> command_of(const std::string& program, const host& host, const plan& plan) {
  std::vector<std::string> words;
  if (host.ranks > 1) words = bench::launcher_of(plan.transport, static_cast<int>(host.ranks)).words;
  words.push_back(bench::own_folder() / "emulate");
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  add("--program", is_phold(program) ? "phold" : program);
  add("--json", "-");
  if (is_phold(program)) {
    add("--grid", fmt::format("{0}x{0}x{0}", plan.entities_a_side));
    add("--threads", "1");
    add("--hop", "0ns");  // so that the lookahead is a tenth of the mean, wherever an event goes
    add("--turn", "100ns");
    add("--mean", "1us");
    add("--remote", fmt::format("{}", remote_share(program)));
    add("--until", fmt::format("{}us", plan.until_us));
  } else {
    add("--grid", plan.grid);
    add("--threads", std::to_string(plan.threads));
    if (program == "ring") add("--rounds", std::to_string(plan.rounds));
  }
  words.push_back(fmt::format("--nacre.workers={}", host.workers));
  return words;
}

/// One run: what it says of itself.
nlohmann::json run_once(const std::string& program, const host& host, const plan& plan) {
  const std::vector<std::string> words = command_of(program, host, plan);
  const bench::outcome got = bench::run_command(words);
  if (got.exit_code != 0)
    throw std::runtime_error(fmt::format("{} ended with {}", fmt::join(words, " "), got.exit_code));
  std::string text;
  for (const std::string& line : got.lines) text += line + "\n";
  return nlohmann::json::parse(text);
}

double rate_of(const nlohmann::json& run) { return run.at("handlers").get<double>() / run.at("seconds").get<double>(); }

std::vector<host> hosts_of(const plan& plan) {
  std::vector<host> all;
  for (const std::uint32_t workers : plan.workers) all.push_back({1, workers});
  for (const std::uint32_t ranks : plan.ranks) all.push_back({ranks, 1});
  return all;
}

/// The bare loops, and the program everywhere, in turns.
std::vector<row> measure(const std::string& program, const plan& plan) {
  std::vector<row> rows;
  const std::uint32_t side = plan.entities_a_side;
  const phold_shape shape{.nodes = side * side * side,
                          .remote = remote_share(program),
                          .until_ns = static_cast<std::int64_t>(plan.until_us * 1e3)};
  if (is_phold(program)) rows = {{program, "bare loop, heap"}, {program, "bare loop, wheel"}};
  const std::size_t bare = rows.size();
  const std::vector<host> hosts = hosts_of(plan);
  for (const host& each : hosts) rows.push_back({program, each.text()});
  for (int run = 0; run < plan.runs; ++run) {
    if (is_phold(program)) {
      rows[0].rates.push_back(run_with_heap(shape).rate());
      rows[1].rates.push_back(run_with_wheel(shape).rate());
    }
    for (std::size_t k = 0; k < hosts.size(); ++k)
      rows[bare + k].rates.push_back(rate_of(run_once(program, hosts[k], plan)));
  }
  for (row& each : rows) std::sort(each.rates.begin(), each.rates.end());
  return rows;
}

/// Of a row, relative to the first place where `emulate` has run.
double speed_up(const row& subject, const std::vector<row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const row& each) {
    return each.program == subject.program && !each.place.starts_with("bare");
  });
  return subject.median() / first->median();
}

void print(const row& each, const std::vector<row>& rows) {
  fmt::print("{:<9} {:<17} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f}\n", each.program, each.place, each.median() / 1e6,
             each.rates.front() / 1e6, each.rates.back() / 1e6, speed_up(each, rows));
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const std::vector<row>& rows, const plan& plan) {
  auto all = nlohmann::ordered_json::array();
  for (const row& each : rows) {
    all.push_back(
        {{"program", each.program},
         {"place", each.place},
         {"handlers_per_s", {{"median", each.median()}, {"min", each.rates.front()}, {"max", each.rates.back()}}},
         {"speed_up", speed_up(each, rows)}});
  }
  return {{"benchmark", "emulation"}, {"runs", plan.runs}, {"transport", plan.transport}, {"rows", std::move(all)}};
}

/// Speed-up over workers, and over ranks.
std::string svg_of(const std::vector<row>& rows, const plan& plan) {
  std::array<plot::chart, 2> charts{
      {{.title = "speed-up over workers", .x_label = "workers", .kind = plot::axes::linear},
       {.title = "speed-up over ranks, one worker each", .x_label = "ranks", .kind = plot::axes::linear}}};
  std::size_t colour = 0;
  for (const std::string& program : plan.programs) {
    ++colour;
    std::array<plot::line, 2> lines{{{.name = program, .colour = colour}, {.name = program, .colour = colour}}};
    for (const row& each : rows) {
      if (each.program != program || each.place.starts_with("bare")) continue;
      const double x = std::stod(each.place), y = speed_up(each, rows);
      const bool of_ranks = each.place.find("rank") != std::string::npos;
      if (!of_ranks) lines[0].points.push_back({x, y});
      if (of_ranks || x == 1) lines[1].points.push_back({x, y});
    }
    for (std::size_t k = 0; k < charts.size(); ++k) charts[k].lines.push_back(std::move(lines[k]));
  }
  plot::page page("The emulator on more workers and ranks");
  page.add_row({charts[0], charts[1]});
  return page.svg();
}

void measure_all(const plan& plan) {
  if (const std::string missing = bench::launcher_of(plan.transport, 2).missing; !missing.empty())
    throw std::runtime_error(missing);
  fmt::print("{:<9} {:<17} {:>8} {:>8} {:>8} {:>9}\n", "", "million handlers/s", "median", "least", "most", "speed-up");
  std::vector<row> all;
  for (const std::string& program : plan.programs) {
    const std::vector<row> rows = measure(program, plan);
    for (const row& each : rows) print(each, rows);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  bench::write_json(plan.json, json_of(all, plan));
  bench::write_file(plan.svg, svg_of(all, plan));
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "emulation",
      "Handlers a second of the emulator on one worker, on several, and on several ranks: a saturated ring of every "
      "thread of the machine, a broadcast in an octree, and PHOLD with 10 % and 50 % of remote events and a lookahead "
      "of a tenth of the mean, beside loops without an emulator. Runs alternate. Run it on an idle machine.");
  options.add("--programs", plan.programs, "Which").one_of({"ring", "octree", "phold10", "phold50"});
  options.add("--workers", plan.workers, "Workers of one rank").between(1, 1024);
  options.add("--ranks", plan.ranks, "Ranks of one worker").between(2, 1024);
  options.add("--transport", plan.transport, "Between ranks").one_of({"shm", "tcp", "udp", "auto", "ucx"});
  options.add("--grid", plan.grid, "Nodes of ring and octree").called("XxYxZ");
  options.add("--threads", plan.threads, "Threads of each of these nodes").between(1, 60'000);
  options.add("--rounds", plan.rounds, "ring: how often each message goes on").between(1, 1'000'000);
  options.add("--side", plan.entities_a_side, "phold: entities along each side of a cube").between(2, 1'000);
  options.add("--until", plan.until_us, "phold: microseconds of virtual time").between(1, 1e6);
  options.add("--runs", plan.runs, "Runs of each; the median counts").between(1, 100);
  options.add("--json", plan.json, "Also write the figures to this file").called("FILE");
  options.add("--svg", plan.svg, "Draw speed-up over workers and ranks into this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    measure_all(plan);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "emulation: {}\n", problem.what());
    return 1;
  }
}
