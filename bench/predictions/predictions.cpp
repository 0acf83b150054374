// SPDX-License-Identifier: Apache-2.0
// Does the simulator tell how long programs take? Predicted beside real times, on ranks of this machine.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"

namespace {

using nlohmann::json;
using words = std::vector<std::string>;

struct plan {
  std::string machine{}, json_file{};
  std::vector<std::string> programs{"uts", "netsort", "synthetic", "task_trees", "jacobi"};
  std::vector<std::string> transports{"inproc", "shm"};
  std::vector<std::uint32_t> ranks{1, 2};
  int runs = 15;
};

/// A program, small enough to find some milliseconds in which nobody else uses this machine. Emulated nodes run for
/// real in the order of arrival, where their blocks wait for nobody but their messages.
struct subject {
  std::string name, program;
  std::function<words(std::uint32_t ranks)> always;
  words really, predicted;
  std::function<double(const json&)> real_seconds, predicted_seconds;
  bool emulated = false;  ///< predicted by the emulator, not by simulated ranks
};

double seconds_of(const json& result) { return result.at("seconds").get<double>(); }

double best_round(const json& result) {
  double least = 1e300;
  for (const json& each : result.at("rounds")) least = std::min(least, each.at("seconds").get<double>());
  return least;
}

std::vector<subject> subjects(const plan& plan) {
  const auto same = [](words all) { return [all = std::move(all)](std::uint32_t) { return all; }; };
  std::vector<subject> all;
  all.push_back({"uts",
                 "uts",
                 same({"--tree", "T1", "--depth", "9", "--json", "--quiet"}),
                 {},
                 {"--node-cost", "measured"},
                 seconds_of,
                 seconds_of});
  all.push_back({"netsort",
                 "netsort",
                 same({"--values", "256", "--keys", "200", "--repetitions", "20", "--json"}),
                 {},
                 {"--measured"},
                 best_round,
                 best_round});
  all.push_back({"synthetic",
                 "synthetic",
                 same({"--light", "0.0005", "--objects", "20", "--json"}),
                 {"--work", "spin"},
                 {"--work", "charge"},
                 seconds_of,
                 seconds_of});
  all.push_back({"task_trees",
                 "task_trees",
                 same({"--as-job", "--shapes=tree", "--costs=exponential", "--micros=20", "--real-tasks=500"}),
                 {},
                 {},
                 seconds_of,
                 seconds_of});
  const auto jacobi = [machine = plan.machine](std::uint32_t ranks) {
    return words{
        "--program", "jacobi", "--machine", machine, "--grid",   fmt::format("{}x1x1", ranks), "--cells", "48",
        "--steps",   "20",     "--work",    "0ns",   "--blocks", fmt::format("{}", ranks),     "--quiet", "--json",
        "-"};
  };
  all.push_back({"jacobi, emulated",
                 "emulate",
                 jacobi,
                 {"--order", "arrival"},
                 {"--measured", "1"},
                 seconds_of,
                 [](const json& result) { return result.at("predicted_us").get<double>() * 1e-6; },
                 true});
  return all;
}

json run_command(const words& command) {
  const bench::outcome got = bench::run_command(command);
  std::string text;
  for (const std::string& line : got.lines) text += line + '\n';
  json result = json::parse(text.substr(std::min(text.find('{'), text.size())), nullptr, false);
  if (got.exit_code == 0 && result.is_object()) return result;
  throw std::runtime_error(fmt::format("{} ended with {}: {}", fmt::join(command, " "), got.exit_code, text));
}

void append(words& target, const words& more) { target.insert(target.end(), more.begin(), more.end()); }

double run_really(const subject& subject, std::uint32_t ranks, const std::string& transport) {
  words command;
  if (transport != "inproc") {
    const bench::launcher start = bench::launcher_of(transport, static_cast<int>(ranks));
    if (!start.missing.empty()) throw std::runtime_error(start.missing);
    command = start.words;
  }
  command.push_back((bench::own_folder() / subject.program).string());
  append(command, subject.always(ranks));
  append(command, subject.really);
  command.emplace_back("--nacre.workers=1");
  if (transport == "inproc") command.push_back(fmt::format("--nacre.ranks={}", ranks));
  return subject.real_seconds(run_command(command));
}

/// Ranks of one process are neighbours on one host of the simulator.
double predict(const plan& plan, const subject& subject, std::uint32_t ranks, const std::string& transport) {
  words command{(bench::own_folder() / subject.program).string()};
  append(command, subject.always(ranks));
  append(command, subject.predicted);
  command.emplace_back("--nacre.workers=1");
  if (!subject.emulated) {
    append(command,
           {"--nacre.transport=sim", fmt::format("--nacre.ranks={}", ranks), "--nacre.sim.machine=" + plan.machine});
    if (transport == "inproc") command.push_back(fmt::format("--nacre.sim.ranks_per_host={}", ranks));
  }
  return subject.predicted_seconds(run_command(command));
}

struct row {
  std::string program, transport;
  std::uint32_t ranks = 0;
  std::vector<double> real{}, predicted{};  ///< seconds of all runs, the shortest first

  [[nodiscard]] double error() const { return predicted.front() / real.front() - 1; }
  [[nodiscard]] json as_json() const {
    return {{"program", program},   {"transport", transport},         {"ranks", ranks},
            {"real_seconds", real}, {"predicted_seconds", predicted}, {"error", error()}};
  }
};

/// The runs alternate, so that what disturbs this machine for a while disturbs both.
row compare(const plan& plan, const subject& subject, std::uint32_t ranks, const std::string& transport) {
  row match{.program = subject.name, .transport = transport, .ranks = ranks};
  for (int run = 0; run < plan.runs; ++run) {
    match.real.push_back(run_really(subject, ranks, transport));
    match.predicted.push_back(predict(plan, subject, ranks, transport));
  }
  std::sort(match.real.begin(), match.real.end());
  std::sort(match.predicted.begin(), match.predicted.end());
  return match;
}

void print(const row& row) {
  fmt::print("{:<18}{:>6}  {:<8}{:>11.4f}{:>11.4f}{:>12.4f}{:>9.0f} %\n", row.program, row.ranks, row.transport,
             row.real.front(), row.real[row.real.size() / 2], row.predicted.front(), row.error() * 100);
  std::fflush(stdout);
}

bool asked_for(const plan& plan, const subject& subject) {
  return std::any_of(plan.programs.begin(), plan.programs.end(),
                     [&](const std::string& each) { return subject.name.starts_with(each); });
}

int measure(const plan& plan) {
  auto all = json::array();
  fmt::print("{:<18}{:>6}  {:<8}{:>11}{:>11}{:>12}{:>11}\n", "program", "ranks", "over", "real s", "median",
             "predicted s", "error");
  for (const subject& subject : subjects(plan)) {
    if (!asked_for(plan, subject)) continue;
    for (const std::uint32_t ranks : plan.ranks) {
      for (const std::string& transport : plan.transports) {
        const row row = compare(plan, subject, ranks, transport);
        print(row);
        all.push_back(row.as_json());
      }
    }
  }
  bench::write_json(plan.json_file, all);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  plan settings;
  nacre::program_options options(
      "predictions", "Predicted times of programs beside real ones, on ranks of one worker of this machine.");
  options.footer(
      "Measure the machine first, and run both while nobody else uses it:\n"
      "  nacre calibrate --out this_machine.toml\n"
      "  predictions --machine this_machine.toml\n\n"
      "The error compares the shortest predicted with the shortest real time of all runs.");
  options.add("--machine", settings.machine, "What nacre calibrate has written").called("FILE").required();
  options.add("--programs", settings.programs, "Which").one_of(settings.programs);
  options.add("--transports", settings.transports, "Of real ranks").one_of({"inproc", "shm"});
  options.add("--ranks", settings.ranks, "How many").between(1, 64);
  options.add("--runs", settings.runs, "Runs of each, real and predicted by turns").between(1, 100);
  options.add("--json", settings.json_file, "Also write all times of all runs to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    settings.machine = std::filesystem::absolute(settings.machine).string();
    if (!std::filesystem::exists(settings.machine)) return options.refuse("there is no file " + settings.machine);
    return measure(settings);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "predictions: {}\n", problem.what());
    return 1;
  }
}
