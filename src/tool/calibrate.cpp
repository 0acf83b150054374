// SPDX-License-Identifier: Apache-2.0
// The steps of `nacre calibrate`, its table, and its files.
#include "tool/calibrate.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <nacre/error.hpp>
#include <nacre/nacre.hpp>

#include "base/output_file.hpp"
#include "base/print_error.hpp"
#include "calibration/link_fit.hpp"
#include "calibration/machine_costs.hpp"
#include "calibration/memory_speed.hpp"
#include "calibration/rungs.hpp"
#include "exec/thread_binding.hpp"
#include "program_options/program_options.hpp"
#include "program_options/standard_output.hpp"
#include "tool/calibration_jobs.hpp"

namespace nacre::tool {
namespace {

constexpr double busy_load = 0.7;

using calibration::fitted_machine;
using calibration::machine_costs;
using calibration::sample;

constexpr const char* footer = R"(Run it on an idle machine; it takes about a minute.

Example:
  nacre calibrate --out this_machine.toml
  uts --tree T1 --nacre.transport=sim --nacre.ranks=64 --nacre.sim.machine=this_machine.toml
  emulate --program ring --machine this_machine.toml)";

/// Says which step begins.
class progress {
 public:
  void begin(std::string_view step) {
    nacre::print_error("nacre calibrate: {} of {}: {}\n", ++done_, steps, step);
    std::fflush(stderr);
  }

 private:
  static constexpr int steps = 7;
  int done_ = 0;
};

/// Others make times longer, and never shorter: the shortest of some runs is the machine's.
template <class Measure>
[[nodiscard]] std::vector<sample> shortest(bool quick, Measure&& run) {
  std::vector<sample> best;
  for (int left = quick ? 1 : 7; left > 0; --left) calibration::take_shorter(best, run(quick));
  return best;
}

void warn_when_busy(std::uint32_t cores) {
  double load = 0;
  if (::getloadavg(&load, 1) != 1 || load < busy_load) return;
  nacre::print_error(
      "nacre calibrate: others use this machine (load average {:.1f} on {} cores): times will be too long\n", load,
      cores);
}

[[nodiscard]] std::vector<sample> messages_of_threads(bool quick) {
  config configuration;
  for (const auto& [name, value] : {std::pair{"transport", "inproc"},
                                    {"ranks", "2"},
                                    {"spin", "10ms"},
                                    {"progress", "shared"},
                                    {"balancer", "none"}}) {
    configuration.set(name, value);
  }
  return calibration::measure_messages(configuration, calibrated_sizes(quick));
}

[[nodiscard]] machine_costs measure(bool quick, progress& told) {
  constexpr std::size_t cached_bytes = 16 << 10, uncached_bytes = std::size_t{64} << 20;
  machine_costs costs;
  costs.cores = static_cast<std::uint32_t>(processors_of_this_thread().size());
  warn_when_busy(costs.cores);
  told.begin("copying memory");
  costs.cached_copy = calibration::copy_bytes_per_second(cached_bytes);
  costs.memory_copy = calibration::copy_bytes_per_second(quick ? uncached_bytes / 4 : uncached_bytes);
  told.begin("messages to a local object");
  costs.local_message_ns = calibration::local_object_message().round_trip_seconds * 1e9;
  told.begin("the runtime's own work, on 3 processes");
  costs.runtime_ns = runtime_ns_of_processes(quick);
  told.begin("messages between 2 processes");
  costs.processes = shortest(quick, messages_of_processes);
  told.begin("messages between 2 ranks of a process");
  costs.threads = shortest(quick, messages_of_threads);
  told.begin("looks of a balancer");
  costs.look = calibration::measure_looks();
  told.begin("moving objects between 2 processes");
  costs.moves = moves_of_processes(quick);
  return costs;
}

[[nodiscard]] std::string messages_text(std::string_view separator, const std::vector<sample>& measured,
                                        const std::vector<sample>& predicted) {
  std::string text = fmt::format("\n{:<28}{:>13}{:>13}{:>13}{:>13}\n", separator, "round trip", "simulated",
                                 "in a stream", "simulated");
  for (std::size_t n = 0; n < measured.size(); ++n) {
    text += fmt::format("{:>20} bytes{:>13.2f} us{:>10.2f} us{:>10.3f} us{:>10.3f} us\n", measured[n].bytes,
                        measured[n].round_trip_seconds * 1e6, predicted[n].round_trip_seconds * 1e6,
                        measured[n].one_way_seconds * 1e6, predicted[n].one_way_seconds * 1e6);
  }
  return text;
}

[[nodiscard]] std::string table_of(const machine_costs& measured, const fitted_machine& fitted) {
  std::string text = fmt::format("{:<34}{:>12.2f} GB/s\n{:<34}{:>12.2f} GB/s\n", "memcpy in a cache",
                                 measured.cached_copy * 1e-9, "memcpy in memory", measured.memory_copy * 1e-9);
  const auto row = [&](const std::string& name, double ns) { text += fmt::format("{:<34}{:>12.1f} ns\n", name, ns); };
  row("message to a local object", measured.local_message_ns);
  for (const auto& [name, ns] : measured.runtime_ns) row(name, ns);
  row("look of a balancer", measured.look.look_ns);
  row("object that a look considers", measured.look.step_ns);
  for (const auto& [bytes, us] : measured.moves) row(fmt::format("object of {} bytes moves", bytes), us * 1e3);
  text += messages_text("messages between processes", measured.processes, fitted.processes);
  text += messages_text("messages in a process", measured.threads, fitted.threads);
  return text;
}

[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<sample>& measured,
                                             const std::vector<sample>& predicted) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < measured.size(); ++n) {
    all.push_back({{"bytes", measured[n].bytes},
                   {"round_trip_ns", measured[n].round_trip_seconds * 1e9},
                   {"simulated_round_trip_ns", predicted[n].round_trip_seconds * 1e9},
                   {"one_way_ns", measured[n].one_way_seconds * 1e9},
                   {"simulated_one_way_ns", predicted[n].one_way_seconds * 1e9}});
  }
  return all;
}

[[nodiscard]] std::string json_text(const machine_costs& measured, const fitted_machine& fitted) {
  auto moves = nlohmann::ordered_json::array();
  for (const auto& [bytes, us] : measured.moves) moves.push_back({{"bytes", bytes}, {"one_way_us", us}});
  return nlohmann::ordered_json{{"cores", measured.cores},
                                {"cached_copy_bytes_per_s", measured.cached_copy},
                                {"memory_copy_bytes_per_s", measured.memory_copy},
                                {"local_message_ns", measured.local_message_ns},
                                {"runtime_ns", measured.runtime_ns},
                                {"look_ns", measured.look.look_ns},
                                {"look_step_ns", measured.look.step_ns},
                                {"moves", moves},
                                {"messages_between_processes", json_of(measured.processes, fitted.processes)},
                                {"messages_in_a_process", json_of(measured.threads, fitted.threads)},
                                {"options", fitted.rows}}
             .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

void write(const std::string& path, const std::string& text) {
  if (path == "-") return print(text);
  const std::string problem = write_output(path, text);
  if (problem.empty()) return;
  throw setup_error({.problem = fmt::format("cannot write '{}': {}", path, problem),
                     .why = "what was measured would be lost",
                     .remedy = "name a file in a folder that can be written"});
}

}  // namespace

CLI::App* add_calibrate(CLI::App& app, calibrate_arguments& given) {
  program_options options(app, "calibrate", "Measure this machine, and write a machine file for simulations");
  options.footer(footer);
  options.add("--out", given.out, "The machine file; - prints it").called("FILE");
  options.add("--json", given.json, "Also write all that was measured, as JSON; - prints it").called("FILE");
  options.add("--quick", given.quick, "Fewer sizes and rounds: some seconds, and less exact");
  options.add("--serve", given.serve, "").hidden().one_of({"costs", "messages", "moves"});
  return options.command();
}

int run_calibrate(const calibrate_arguments& given) {
  if (!given.serve.empty()) return serve_calibration(given.serve, given.quick);
  if (given.out != "-" && given.json != "-") demand_other_file(given.json, given.out);
  for (const auto& [path, option] : {std::pair{given.out, "--out"}, std::pair{given.json, "--json"}}) {
    if (!path.empty() && path != "-") check_output(path, "what is measured", option);
  }
  if (processors_of_this_thread().size() == 1) {
    throw setup_error({.problem = "this process has one processor",
                       .why = "messages between two ranks that take turns at it say nothing about a network",
                       .remedy = "give it two or more, for example by taskset"});
  }
  progress told;
  const machine_costs measured = measure(given.quick, told);
  const fitted_machine fitted = calibration::fit(measured);
  if (given.out != "-" && given.json != "-") print(table_of(measured, fitted));
  write(given.out, calibration::machine_text(measured, fitted));
  if (!given.json.empty()) write(given.json, json_text(measured, fitted));
  if (given.out != "-") nacre::print_error("nacre calibrate: wrote {}\n", given.out);
  return 0;
}

}  // namespace nacre::tool
