// SPDX-License-Identifier: Apache-2.0
// From measured costs to a simulated and an emulated machine.
#include "calibration/machine_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <nacre/emulated_machine.hpp>

#include "calibration/link_fit.hpp"
#include "calibration/runtime_costs.hpp"

namespace nacre::calibration {
namespace {

constexpr double ns_of_second = 1e9;

[[nodiscard]] std::vector<std::size_t> sizes_of(const std::vector<sample>& messages) {
  std::vector<std::size_t> sizes;
  for (const sample& each : messages) sizes.push_back(each.bytes);
  return sizes;
}

/// A line of TOML.
[[nodiscard]] std::string line(const std::string& name, const std::string& value) {
  return name + " = " + value + "\n";
}
[[nodiscard]] std::string time_line(const std::string& name, double ns) {
  return line(name, '"' + duration_text(ns) + '"');
}

/// The machine of the emulator: a node is a core, and a handler costs as much as a message to a local object, sent and
/// run. The hop takes the rest of half a round trip between processes; packets leave as often as messages in a stream.
[[nodiscard]] std::string emulated_text(const machine_costs& measured) {
  const sample& small = measured.processes.front();
  const sample& large = measured.processes.back();
  const double more_seconds = large.one_way_seconds - small.one_way_seconds;
  const double bandwidth =
      more_seconds > 0 ? std::max(static_cast<double>(large.bytes - small.bytes) / more_seconds, 1e6) : 0;
  const double passage_ns = bandwidth > 0 ? static_cast<double>(packet_bytes_max) / bandwidth * ns_of_second : 0;
  const double handler_ns = std::max(measured.local_message_ns, 1.0);
  const std::string cores = std::to_string(measured.cores);
  return line("grid", "[" + cores + ", 1, 1]") + line("threads", "1") +
         line("topology", "\"fat_tree\"") +  // of one switch: each core is one hop from each other one
         line("switch_ports", std::to_string(std::max(measured.cores, 2U))) + time_line("handler", handler_ns) +
         time_line("hop", std::max(small.round_trip_seconds / 2 * ns_of_second - handler_ns - passage_ns, 1.0)) +
         time_line("turn", 0) + time_line("injection", small.one_way_seconds * ns_of_second) +
         line("bandwidth", std::to_string(std::llround(bandwidth)) + ".0") +
         line("packet_bytes", std::to_string(packet_bytes_max));
}

}  // namespace

fitted_machine fit(const machine_costs& measured) {
  fitted_machine result;
  result.rows = rows_of(measured.runtime_ns, measured.local_message_ns);
  result.rows["sim.cost.look"] = duration_text(measured.look.look_ns);
  result.rows["sim.cost.look_step"] = duration_text(measured.look.step_ns);
  const cost_rows runtime = result.rows;
  result.rows.merge(fit_link(measured.processes, rank_place::own_process, runtime));
  result.rows.merge(fit_link(measured.threads, rank_place::same_process, runtime));
  result.processes = predict_messages(result.rows, rank_place::own_process, sizes_of(measured.processes));
  result.threads = predict_messages(result.rows, rank_place::same_process, sizes_of(measured.threads));
  result.rows["sim.handler"] = "0ns";      // the rows of sim.cost contain it
  result.rows["sim.input_buffer"] = "0B";  // messages wait in the memory that the two processes share
  result.rows["sim.topology"] = "flat";
  result.rows["sim.hop_latency"] = "0ns";
  return result;
}

std::string machine_text(const machine_costs& measured, const fitted_machine& fitted) {
  std::string text =
      "# This machine, as `nacre calibrate` has measured it. For simulations --nacre.sim.machine=FILE, for the "
      "emulator\n"
      "# --machine FILE.\n\n# The emulator: a node for each core.\n" +
      emulated_text(measured) +
      "\n# The simulator: ranks in processes of their own; with sim.ranks_per_host, ranks of one process.\n";
  for (const auto& [name, value] : fitted.rows) text += line(name, '"' + value + '"');
  return text;
}

}  // namespace nacre::calibration
