// SPDX-License-Identifier: Apache-2.0
// What does each location policy cost a sender whose object moves on and on (Clam figure 5): hops, updates, round
// trips?
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <program_options.hpp>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "figures_file.hpp"
#include "parts/journey.hpp"
#include "parts/report.hpp"

namespace {

struct command {
  hops::plan plan{};
  std::string json{}, svg{};
};

constexpr const char* footer = R"(Examples:
  hops                                                    6 simulated ranks, virtual time
  hops --visits 12 --every 12                             many moves unseen, then two messages
  hops --bytes 64KiB                                      long messages
  hops --visits 2 --runs 100 --nacre.transport=inproc     threads of this process
  nacre run -n 6 hops --runs 100                          processes, connected by shared memory
  hops --nacre.help                                       options of the runtime

Exit code: 0; 1 when simulated ranks count anything but what the policies predict; 2 when the options are wrong.)";

/// An exit code, where there is nothing to run.
std::optional<int> parse(int argc, char** argv, command& asked) {
  nacre::program_options options(
      "hops",
      "An object moves from rank to rank; one that stays behind sends to it. Counts the hops of the messages and the "
      "location updates under each location policy, beside what the policy predicts.");
  options.footer(footer);
  options.add("--visits", asked.plan.visits, "Ranks that the object visits; two more take part").between(1u, 190u);
  options.add("--every", asked.plan.every, "Messages are sent after so many moves each time; divides the visits")
      .between(1u, 190u);
  options.add("--bytes", asked.plan.bytes, "What each message to the object brings along")
      .between(0, 64 << 20)
      .of_bytes();
  options.add("--runs", asked.plan.runs, "Journeys under each policy").between(1, 1000000);
  options.add("--json", asked.json, "Also write the figures to this file").called("FILE");
  options.add("--plot", asked.svg, "Also draw hops, round trips and updates over moves to this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return exit_code;
  if (asked.plan.visits % asked.plan.every != 0) return options.refuse("--every does not divide the visits");
  return std::nullopt;
}

/// What the program wants where its user has said nothing: simulated ranks, as many as it needs, a network without
/// chance, and no message that leaves its way because it has become long.
void prefer(nacre::config& configuration, const hops::plan& plan) {
  const auto set = [&](const char* name, const std::string& value) {
    configuration.set(name, value, nacre::setting_source::program);
  };
  if (!configuration.was_set("transport")) set("transport", "sim");
  set("ranks", std::to_string(hops::ranks_of(plan)));
  set("sim.jitter", "0");
  set("balancer", "none");
  if (plan.visits > 8) set("hops_max", std::to_string(plan.visits));
}

/// All policies in turns, so that what else the machine does meets each of them.
std::vector<hops::comparison> compare(nacre::runtime& rt, const hops::plan& plan) {
  std::vector<hops::comparison> all;
  for (std::size_t number = 1; number <= nacre::location_policy_names.size(); ++number) {
    const auto policy = static_cast<nacre::location_policy>(number);
    all.push_back({policy, hops::predicted(policy, plan, rt.size()), {}});
  }
  for (int run = 0; run < plan.runs; ++run) {
    for (hops::comparison& each : all) each.counted.push_back(hops::counted(rt, each.policy, plan));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    nacre::config configuration = nacre::read_config(argc, argv);
    command asked;
    if (const std::optional<int> exit_code = parse(argc, argv, asked)) return *exit_code;
    prefer(configuration, asked.plan);
    const std::string transport = configuration.get_string("transport");
    bool as_predicted = true;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (rt.size() < hops::ranks_of(asked.plan)) {
        throw nacre::setup_error(
            fmt::format("{} ranks cannot be visited in a job of {} (the object's home and its sender "
                        "stay): try --visits {}",
                        asked.plan.visits, rt.size(), rt.size() < 3 ? 1 : rt.size() - 2));
      }
      const std::vector<hops::comparison> all = compare(rt, asked.plan);
      if (rt.rank().value() != 0) return;
      const hops::surroundings surroundings{rt.size(), transport};
      fmt::print("{}", hops::table(asked.plan, surroundings, all));
      if (!asked.json.empty()) bench::write_file(asked.json, hops::json(asked.plan, surroundings, all));
      if (!asked.svg.empty()) bench::write_file(asked.svg, hops::picture(asked.plan, surroundings, all));
      const std::string wrong = hops::differences(all);
      fmt::print(stderr, "{}", wrong);
      as_predicted = wrong.empty() || transport != "sim";
    });
    return failed != 0 ? failed : as_predicted ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hops: {}\n", error.what());
    return 2;
  }
}
