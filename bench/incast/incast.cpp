// SPDX-License-Identifier: Apache-2.0
// When do senders collapse a receiver's link, and what keeps them from it? Policies over a simulated switch and a star
// of network namespaces.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "parts/figures.hpp"
#include "parts/plan.hpp"
#include "parts/runs.hpp"

namespace {

using incast::coordination;
using incast::plan;

struct wishes {
  incast::network over = incast::network::sim;
  plan how{};
  std::optional<double> megabits{}, early_us{}, patience_us{};  // nothing: as the switch has it by default
  int runs = 5;
  bool figures = false;
  std::string svg{}, json{};
};

void declare(nacre::program_options& options, wishes& into) {
  using incast::network;
  options.add_choice("--switch", into.over, {{"sim", network::sim}, {"star", network::star}},
                     "A simulated ATM switch, or a star of network namespaces on this host, which needs root or "
                     "unprivileged user namespaces");
  options.add("--senders", into.how.senders, "How many ranks send to one").between(1, 1000);
  options.add("--bytes", into.how.bytes, "The size of a message").between(1, 1 << 20).of_bytes();
  options.add_choice("--policy", into.how.by,
                     {{"none", coordination::none},
                      {"token", coordination::token},
                      {"credit", coordination::credit},
                      {"slot", coordination::slot},
                      {"auto", coordination::automatic},
                      {"tcp", coordination::tcp}},
                     "How they are coordinated; tcp, in the star only, leaves it to the kernel's TCP");
  options.add("--rate", into.megabits, "Mbit/s of each link").between(0.01, 100000).otherwise("149.76 sim, 200 star");
  options.add("--buffer", into.how.buffer_bytes, "Buffer of a port of the star's switch")
      .between(2048, 1 << 24)
      .of_bytes();
  options.add("--burst", into.how.burst_bytes, "What a link of the star sends at once after its timer was late")
      .between(0, 1 << 24)
      .of_bytes()
      .otherwise("400 us of the link");
  options.add("--buffer-cells", into.how.buffer_cells, "Buffer of a port of the simulated switch").between(1, 1e6);
  options.add("--latency", into.how.latency_us, "Microseconds of a simulated control message").between(0, 1e6);
  options.add("--early", into.early_us, "Microseconds before the link is free that a token is passed on")
      .between(0, 1e6);
  options.add("--patience", into.patience_us, "Microseconds after which an answer counts as lost").between(10, 1e7);
  options.add("--seconds", into.how.seconds, "How long they send").between(0.01, 3600);
  options.add("--rounds", into.how.rounds, "All send one message at once, again and again; star only");
  options.add("--busy-receiver", into.how.busy_receiver,
              "Other processes keep the receiver's processor busy; star only");
  options.add("--runs", into.runs, "Runs of which the medians are taken").between(1, 1000);
  options.add("--seed", into.how.seed, "Of the first simulated run");
  options.add("--json", into.json, "Write the result as JSON").called("FILE");
  options.add("--figures", into.figures, "Print the curves of the paper's figures 2, 3 and 4, and ours");
  options.add("--svg", into.svg, "Draw them, too").called("FILE");
}

/// What the two kinds of network have by default.
void complete(wishes& what) {
  const bool sim = what.over == incast::network::sim;
  what.how.bits_per_second = what.megabits.value_or(sim ? 149.76 : 200) * 1e6;
  what.how.early_us = what.early_us.value_or(sim ? 2 * what.how.latency_us : 400);
  if (what.how.burst_bytes == 0) what.how.burst_bytes = static_cast<std::uint64_t>(what.how.bits_per_second / 8 * 4e-4);
  what.how.patience_us = what.patience_us.value_or(sim ? 1000 : 20000);
}

void print(const wishes& what, const incast::measured& got) {
  const auto line = [](std::string_view name, const incast::spread& of, std::string_view unit) {
    fmt::print("{:18} {:10.4g} {:4} (least {:.4g}, most {:.4g})\n", name, of.median, unit, of.least, of.most);
  };
  fmt::print("{} senders of {} B, {}, policy {}, {} runs\n", what.how.senders, what.how.bytes,
             what.over == incast::network::sim ? "simulated switch" : "star", name_of(what.how.by), what.runs);
  line("goodput", got.goodput_fraction, "");
  line("drops", got.drops, "");
  line("fairness", got.fairness, "");
  line("token", got.token_us, "us");
  if (what.how.rounds) {
    line("round / ideal", got.round_ratio, "");
    line("round, 99 %", got.round_p99_ms, "ms");
  }
  if (what.how.by == coordination::automatic) fmt::print("auto: {}\n", got.choice);
}

void write_json(const wishes& what, const incast::measured& got) {
  using incast::json_of;
  nlohmann::ordered_json all{{"switch", what.over == incast::network::sim ? "sim" : "star"},
                             {"senders", what.how.senders},
                             {"bytes", what.how.bytes},
                             {"policy", name_of(what.how.by)},
                             {"busy_receiver", what.how.busy_receiver},
                             {"runs", what.runs},
                             {"goodput_fraction", got.goodput_fraction.median},
                             {"drops", got.drops.median},
                             {"fairness", got.fairness.median},
                             {"token_us", got.token_us.median},
                             {"spread",
                              {{"goodput_fraction", json_of(got.goodput_fraction)},
                               {"drops", json_of(got.drops)},
                               {"fairness", json_of(got.fairness)},
                               {"token_us", json_of(got.token_us)},
                               {"round_ratio", json_of(got.round_ratio)},
                               {"round_p99_ms", json_of(got.round_p99_ms)},
                               {"retries", json_of(got.retries)}}}};
  if (what.how.by == coordination::automatic) all["choice"] = got.choice;
  bench::write_json(what.json, all);
}

/// Of the files to write, the first that cannot be written; empty: none. Told before minutes are spent on its contents.
std::string unwritable(const wishes& what) {
  for (const std::string& file : {what.json, what.svg}) {
    if (!file.empty() && !std::ofstream(file, std::ios::app)) return file;
  }
  return {};
}

int run(const wishes& what) {
  if (what.figures) return incast::draw_figures(what.how, what.over, what.runs, {.svg = what.svg, .json = what.json});
  const incast::measured got = incast::measure(what.how, what.over, what.runs);
  print(what, got);
  write_json(what, got);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("incast", [&] {
    wishes what;
    nacre::program_options options("incast",
                                   "Several senders, one receiver: how much of its link carries whole messages");
    declare(options, what);
    if (const auto code = options.parse(argc, argv)) return *code;
    const bool star = what.over == incast::network::star;
    const plan& how = what.how;
    if (!star && (how.rounds || how.busy_receiver || how.by == coordination::tcp)) {
      return options.refuse("--rounds, --busy-receiver and --policy tcp need --switch star");
    }
    if (star && how.senders > incast::star_senders_max) {
      return options.refuse(fmt::format("a star has at most {} senders: use --switch sim", incast::star_senders_max));
    }
    if (!what.svg.empty() && !what.figures) return options.refuse("--svg needs --figures");
    if (const std::string file = unwritable(what); !file.empty()) {
      return options.refuse(fmt::format("cannot write {}: name a file in a folder that exists", file));
    }
    complete(what);
    if (star) incast::enter_star(argc, argv, how);
    return run(what);
  });
}
