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
using nacre::machine::cell_discard;

struct wishes {
  incast::network network = incast::network::sim;
  plan settings{};
  std::optional<double> megabits{}, early_us{}, patience_us{};  // nothing: as the switch has it by default
  std::optional<std::uint32_t> flow_buffer{}, threshold{};
  int runs = 5;
  bool figures = false;
  std::string svg{}, json{};
};

/// The simulated switch, its hosts and their adapters.
void declare_simulated(nacre::program_options& options, wishes& wishes) {
  options.add("--buffer-cells", wishes.settings.buffer_cells, "Buffer of a port of the simulated switch")
      .between(1, 1e6);
  options.add_choice("--discard", wishes.settings.discard,
                     {{"tail", cell_discard::tail},
                      {"rest", cell_discard::rest},
                      {"partial", cell_discard::partial},
                      {"early", cell_discard::early}},
                     "Cells that the simulated switch drops: those without room; also the rest of their packets, which "
                     "the DVCM paper calls EPD; the same without last cells (PPD); also packets that begin above "
                     "--threshold (EPD)");
  options.add("--threshold", wishes.threshold, "Cells in the port from which early discard refuses packets")
      .between(1, 1e6)
      .otherwise("half of --buffer-cells");
  options
      .add("--flow-buffer", wishes.flow_buffer,
           "Bytes of a simulated port that senders count on, as --nacre.flow_"
           "buffer; 0: none, as in the DVCM paper")
      .between(0, 1 << 30)
      .of_bytes()
      .otherwise("all of --buffer-cells");
  options
      .add("--message-cost", wishes.settings.message_cost_us,
           "Microseconds that a simulated host and its adapter take for a message, beside its cells; each takes up to "
           "half more or less (half of what the DVCM paper has between applications, 60, and not between adapters, "
           "18)")
      .between(0, 1e6);
  options.add("--latency", wishes.settings.latency_us, "Microseconds of a simulated control message").between(0, 1e6);
}

void declare(nacre::program_options& options, wishes& wishes) {
  using incast::network;
  options.add_choice("--switch", wishes.network, {{"sim", network::sim}, {"star", network::star}},
                     "A simulated ATM switch, or a star of network namespaces on this host, which needs root or "
                     "unprivileged user namespaces");
  options.add("--senders", wishes.settings.senders, "How many ranks send to one").between(1, 1000);
  options.add("--bytes", wishes.settings.bytes, "The size of a message").between(1, 1 << 20).of_bytes();
  options.add_choice("--policy", wishes.settings.scheme,
                     {{"none", coordination::none},
                      {"token", coordination::token},
                      {"credit", coordination::credit},
                      {"slot", coordination::slot},
                      {"auto", coordination::automatic},
                      {"tcp", coordination::tcp}},
                     "How they are coordinated; tcp, in the star only, leaves it to the kernel's TCP");
  options.add("--rate", wishes.megabits, "Mbit/s of each link").between(0.01, 100000).otherwise("149.76 sim, 200 star");
  options.add("--buffer", wishes.settings.buffer_bytes, "Buffer of a port of the star's switch")
      .between(2048, 1 << 24)
      .of_bytes();
  options.add("--burst", wishes.settings.burst_bytes, "What a link of the star sends at once after its timer was late")
      .between(0, 1 << 24)
      .of_bytes()
      .otherwise("400 us of the link");
  declare_simulated(options, wishes);
  options.add("--early", wishes.early_us, "Microseconds before the link is free that a token is passed on")
      .between(0, 1e6);
  options.add("--flow-small", wishes.settings.flow_small_bytes, "Messages up to that size leave at once")
      .between(0, 1 << 20)
      .of_bytes()
      .otherwise("512 under auto, as a rank has it, else 0");
  options.add("--patience", wishes.patience_us, "Microseconds after which an answer counts as lost").between(10, 1e7);
  options.add("--seconds", wishes.settings.seconds, "How long they send").between(0.01, 3600);
  options.add("--rounds", wishes.settings.rounds, "All send one message at once, again and again; star only");
  options.add("--busy-receiver", wishes.settings.busy_receiver,
              "Other processes keep the receiver's processor busy; star only");
  options.add("--runs", wishes.runs, "Runs of which the medians are taken").between(1, 1000);
  options.add("--seed", wishes.settings.seed, "Of the first simulated run");
  options.add("--json", wishes.json, "Write the result as JSON").called("FILE");
  options.add("--figures", wishes.figures, "Print the curves of the paper's figures 2, 3 and 4, and ours");
  options.add("--svg", wishes.svg, "Draw them, too").called("FILE");
}

/// What the two kinds of network have by default.
void complete(wishes& wishes) {
  const bool sim = wishes.network == incast::network::sim;
  wishes.settings.bits_per_second = wishes.megabits.value_or(sim ? 149.76 : 200) * 1e6;
  wishes.settings.early_us = wishes.early_us.value_or(sim ? 2 * wishes.settings.latency_us : 400);
  if (wishes.settings.burst_bytes == 0)
    wishes.settings.burst_bytes = static_cast<std::uint64_t>(wishes.settings.bits_per_second / 8 * 4e-4);
  wishes.settings.threshold_cells =
      wishes.threshold.value_or(std::max<std::uint64_t>(1, wishes.settings.buffer_cells / 2));
  wishes.settings.flow_buffer_bytes =
      wishes.flow_buffer.value_or(wishes.settings.buffer_cells * nacre::machine::atm_payload_bytes);
  wishes.settings.patience_us = wishes.patience_us.value_or(sim ? 1000 : 20000);
}

void print(const wishes& wishes, const incast::measured& got) {
  const auto line = [](std::string_view name, const incast::spread& spread, std::string_view unit) {
    fmt::print("{:18} {:10.4g} {:4} (least {:.4g}, most {:.4g})\n", name, spread.median, unit, spread.least,
               spread.most);
  };
  fmt::print("{} senders of {} B, {}, policy {}, {} runs\n", wishes.settings.senders, wishes.settings.bytes,
             wishes.network == incast::network::sim ? "simulated switch" : "star", name_of(wishes.settings.scheme),
             wishes.runs);
  line("goodput", got.goodput_fraction, "");
  line("drops", got.drops, "");
  line("fairness", got.fairness, "");
  line("token", got.token_us, "us");
  if (wishes.settings.rounds) {
    line("round / ideal", got.round_ratio, "");
    line("round, 99 %", got.round_p99_ms, "ms");
  }
  if (wishes.settings.scheme == coordination::automatic) fmt::print("auto: {}\n", got.choice);
}

void write_json(const wishes& wishes, const incast::measured& got) {
  using incast::json_of;
  nlohmann::ordered_json all{{"switch", wishes.network == incast::network::sim ? "sim" : "star"},
                             {"senders", wishes.settings.senders},
                             {"bytes", wishes.settings.bytes},
                             {"policy", name_of(wishes.settings.scheme)},
                             {"busy_receiver", wishes.settings.busy_receiver},
                             {"runs", wishes.runs},
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
  if (wishes.settings.scheme == coordination::automatic) all["choice"] = got.choice;
  bench::write_json(wishes.json, all);
}

/// Of the files to write, the first that cannot be written; empty: none. Told before minutes are spent on its contents.
std::string unwritable(const wishes& wishes) {
  for (const std::string& file : {wishes.json, wishes.svg}) {
    if (!file.empty() && !std::ofstream(file, std::ios::app)) return file;
  }
  return {};
}

int run(const wishes& wishes) {
  if (wishes.figures)
    return incast::draw_figures(wishes.settings, wishes.network, wishes.runs, {.svg = wishes.svg, .json = wishes.json});
  const incast::measured got = incast::measure(wishes.settings, wishes.network, wishes.runs);
  print(wishes, got);
  write_json(wishes, got);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("incast", [&] {
    wishes wishes;
    nacre::program_options options("incast",
                                   "Several senders, one receiver: how much of its link carries whole messages");
    declare(options, wishes);
    if (const auto code = options.parse(argc, argv)) return *code;
    const bool star = wishes.network == incast::network::star;
    const plan& plan = wishes.settings;
    if (!star && (plan.rounds || plan.busy_receiver || plan.scheme == coordination::tcp)) {
      return options.refuse("--rounds, --busy-receiver and --policy tcp need --switch star");
    }
    if (star && plan.senders > incast::star_senders_max) {
      return options.refuse(fmt::format("a star has at most {} senders: use --switch sim", incast::star_senders_max));
    }
    if (!wishes.svg.empty() && !wishes.figures) return options.refuse("--svg needs --figures");
    if (const std::string file = unwritable(wishes); !file.empty()) {
      return options.refuse(fmt::format("cannot write {}: name a file in a folder that exists", file));
    }
    complete(wishes);
    if (star) incast::enter_star(argc, argv, plan);
    return run(wishes);
  });
}
