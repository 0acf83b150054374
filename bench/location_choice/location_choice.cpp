// SPDX-License-Identifier: Apache-2.0
// Which location policy for which program? netsort under each, where its wires stay, move once, or move on and on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <program_options.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/location.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"

namespace {

struct plan {
  std::uint32_t values = 1024;
  int repetitions = 3;  // sorts one after the other
  int runs = 3;
  std::vector<std::string> transports{"sim", "shm"};
  std::vector<int> ranks{4, 16, 64};  // simulated ones
  int processes = 4;
  std::string json{};
  std::vector<std::string> more{};  // for netsort
};

/// A program that uses its objects in one way.
struct program {
  const char* title;
  std::vector<std::string> options;
};
const std::array<program, 4> programs{
    {{"distributed: each rank creates its wires, which stay", {"--placement=distributed"}},
     {"central: one rank creates all wires, each moves once", {"--placement=central"}},
     {"central, and every 16 steps a wire moves on to the next rank", {"--placement=central", "--wander=16"}},
     {"distributed, and every 4 steps a wire moves on to the next rank", {"--placement=distributed", "--wander=4"}}}};

/// What one run has taken.
struct figures {
  double placing_ms = 0, first_ms = 0, last_ms = 0, all_ms = 0;  // all: placing, and every sort
  double messages = 0, hops_a_message = 0, updates = 0, migrations = 0;
};

constexpr std::array<double figures::*, 8> fields{&figures::placing_ms, &figures::first_ms,  &figures::last_ms,
                                                  &figures::all_ms,     &figures::messages,  &figures::hops_a_message,
                                                  &figures::updates,    &figures::migrations};

figures figures_of(const nlohmann::json& result) {
  const nlohmann::json &placing = result.at("placing"), &rounds = result.at("rounds");
  const auto ms = [](const nlohmann::json& phase) { return phase.at("seconds").get<double>() * 1e3; };
  figures got{.placing_ms = ms(placing), .first_ms = ms(rounds.front()), .last_ms = ms(rounds.back())};
  double hops = 0;
  got.all_ms = got.placing_ms;
  got.updates = placing.at("location_updates");
  got.migrations = placing.at("migrations");
  for (const nlohmann::json& round : rounds) {
    got.all_ms += ms(round);
    got.messages += round.at("messages").get<double>();
    hops += round.at("hops").get<double>();
    got.updates += round.at("location_updates").get<double>();
    got.migrations += round.at("migrations").get<double>();
  }
  got.hops_a_message = hops / got.messages;
  return got;
}

figures medians(const std::vector<figures>& subject) {
  figures result;
  for (const auto field : fields) {
    std::vector<double> values;
    for (const figures& each : subject) values.push_back(each.*field);
    std::sort(values.begin(), values.end());
    result.*field = values[values.size() / 2];
  }
  return result;
}

/// Runs netsort once. `run` makes other keys, and other chances of the simulated network.
figures sort_once(const plan& plan, const program& program, std::string_view policy, const std::string& transport,
                  int ranks, int run) {
  std::vector<std::string> command;
  if (transport != "sim") {
    const bench::launcher start = bench::launcher_of(transport, ranks);
    if (!start.missing.empty()) throw std::runtime_error(start.missing);
    command = start.words;
  }
  command.push_back((bench::own_folder() / "netsort").string());
  command.insert(command.end(), program.options.begin(), program.options.end());
  command.insert(command.end(),
                 {"--json", fmt::format("--values={}", plan.values), fmt::format("--location={}", policy),
                  fmt::format("--repetitions={}", plan.repetitions), fmt::format("--seed={}", 1000 * run),
                  fmt::format("--nacre.seed={}", run), "--nacre.workers=1"});
  if (transport == "sim") {
    command.insert(command.end(), {"--nacre.transport=sim", fmt::format("--nacre.ranks={}", ranks)});
  }
  command.insert(command.end(), plan.more.begin(), plan.more.end());
  const bench::outcome got = bench::run_command(command);
  const auto result = nlohmann::json::parse(got.lines.empty() ? "" : got.lines.back(), nullptr, false);
  if (got.exit_code != 0 || !result.is_object() || !result.at("sorted").get<bool>()) {
    std::string words = "netsort failed:";
    for (const std::string& word : command) words += " " + word;
    throw std::runtime_error(words);
  }
  return figures_of(result);
}

using by_policy = std::array<figures, nacre::location_policy_names.size()>;

/// Policies in turns, so that what else the machine does meets each of them.
by_policy measure(const plan& plan, const program& program, const std::string& transport, int ranks) {
  std::array<std::vector<figures>, nacre::location_policy_names.size()> all;
  for (int run = 1; run <= plan.runs; ++run) {
    for (std::size_t index = 0; index < all.size(); ++index) {
      all[index].push_back(sort_once(plan, program, nacre::location_policy_names[index], transport, ranks, run));
    }
  }
  by_policy result;
  std::transform(all.begin(), all.end(), result.begin(), medians);
  return result;
}

double best_of(const by_policy& all) {
  return std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.all_ms < b.all_ms; })
      ->all_ms;
}

void print(const program& program, const by_policy& all) {
  fmt::print("\n{}; {:.0f} messages, {:.0f} migrations\n", program.title, all[0].messages, all[0].migrations);
  fmt::print("{:<18}{:>11}{:>11}{:>11}{:>11}{:>9}{:>11}{:>10}\n", "", "placing ms", "first sort", "last sort",
             "in all ms", "to best", "hops each", "updates");
  const double best = best_of(all);
  for (std::size_t index = 0; index < all.size(); ++index) {
    const figures& each = all[index];
    fmt::print("{:<18}{:>11.3f}{:>11.3f}{:>11.3f}{:>11.3f}{:>9.2f}{:>11.3f}{:>10.0f}\n",
               nacre::location_policy_names[index], each.placing_ms, each.first_ms, each.last_ms, each.all_ms,
               each.all_ms / best, each.hops_a_message, each.updates);
  }
}

nlohmann::json rows_of(const program& program, const std::string& transport, int ranks, const by_policy& all) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t index = 0; index < all.size(); ++index) {
    const figures& each = all[index];
    rows.push_back({{"program", program.title},
                    {"transport", transport},
                    {"ranks", ranks},
                    {"location", nacre::location_policy_names[index]},
                    {"placing_ms", each.placing_ms},
                    {"first_sort_ms", each.first_ms},
                    {"last_sort_ms", each.last_ms},
                    {"all_ms", each.all_ms},
                    {"ratio_to_best", each.all_ms / best_of(all)},
                    {"messages", each.messages},
                    {"hops_a_message", each.hops_a_message},
                    {"location_updates", each.updates},
                    {"migrations", each.migrations}});
  }
  return rows;
}

void study(const plan& plan) {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::string& transport : plan.transports) {
    const bool simulated = transport == "sim";
    std::map<std::string_view, double> worst;
    for (const int ranks : simulated ? plan.ranks : std::vector<int>{plan.processes}) {
      fmt::print("\n== {} ranks, {} ==\n", ranks, simulated ? "simulated: virtual time" : transport);
      for (const program& program : programs) {
        const by_policy all = measure(plan, program, transport, ranks);
        print(program, all);
        std::fflush(stdout);
        for (std::size_t index = 0; index < all.size(); ++index) {
          double& ratio = worst[nacre::location_policy_names[index]];
          ratio = std::max(ratio, all[index].all_ms / best_of(all));
        }
        const nlohmann::json more = rows_of(program, transport, ranks, all);
        rows.insert(rows.end(), more.begin(), more.end());
      }
    }
    fmt::print("\nThe most that each takes of the best one's time, {}:", simulated ? "simulated" : transport);
    for (const std::string_view policy : nacre::location_policy_names) fmt::print(" {} {:.2f};", policy, worst[policy]);
    fmt::print("\n");
  }
  bench::write_json(plan.json, nlohmann::json{{"benchmark", "location_choice"}, {"runs", plan.runs}, {"rows", rows}});
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "location_choice",
      "Which location policy for which program: netsort under each policy, medians of some runs in turns. What it does "
      "not know is for netsort, such as --nacre.sim.latency=50us.");
  options.add("--values", plan.values, "Wires of the network, a power of 2");
  options.add("--repetitions", plan.repetitions, "Sorts of a run, one after the other").between(1, 1000);
  options.add("--runs", plan.runs, "Runs of every row").between(1, 1000);
  options.add("--transport", plan.transports, "Only these: sim, or what `nacre run` takes")
      .one_of({"sim", "shm", "tcp", "udp", "auto", "ucx"});
  options.add("--ranks", plan.ranks, "Simulated ranks");
  options.add("--processes", plan.processes, "Ranks over other transports");
  options.add("--json", plan.json, "Also write the figures to this file").called("FILE");
  options.pass_on(plan.more);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    study(plan);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "location_choice: {}\n", problem.what());
    return 1;
  }
}
