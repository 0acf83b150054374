// SPDX-License-Identifier: Apache-2.0
// The table of network options, and the function that reads them.
#include "machine/network_config.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nacre/error.hpp>
#include "machine/machine_bounds.hpp"
#include "machine/machine_file.hpp"
#include "machine/node_options.hpp"

namespace nacre::machine {

namespace {

using enum option_kind;

constexpr std::array network_rows{
    option{"sim.latency", duration, "1500ns", "", "0..1s",
           "Time of a message on the wires between two hosts, at least"},
    option{"sim.send_overhead", duration, "200ns", "", "0..1s", "Time that the sender works for each message"},
    option{"sim.receive_overhead", duration, "200ns", "", "0..1s", "Time that the receiver works for each message"},
    option{"sim.poll", duration, "0ns", "", "0..1s",
           "Time that a processor works for each look for messages, also where there are none"},
    option{"sim.gap", duration, "50ns", "", "0..1s", "Time that a network port rests after each message"},
    option{"sim.bandwidth", real, "10", "GB/s", "0.001..1000000", "Speed of a network port"},
    option{"sim.jitter", real, "0.1", "fraction", "0..10", "Random part that is added to a latency, at most"},
    option{"sim.ranks_per_host", integer, "1", "ranks", "1..16777216",
           "Neighbouring ranks that share a host and its port"},
    option{"sim.local_latency", duration, "300ns", "", "0..1s", "The same as sim.latency, between ranks of one host"},
    option{"sim.local_send_overhead", duration, "100ns", "", "0..1s", "As sim.send_overhead, within a host"},
    option{"sim.local_receive_overhead", duration, "100ns", "", "0..1s", "As sim.receive_overhead, within a host"},
    option{"sim.local_gap", duration, "20ns", "", "0..1s", "As sim.gap, within a host"},
    option{"sim.local_bandwidth", real, "20", "GB/s", "0.001..1000000", "As sim.bandwidth, within a host"},
    option{"sim.local_jitter", real, "0.1", "fraction", "0..10", "As sim.jitter, within a host"},
    option{"sim.machine", text, "", "", "",
           "A machine file: its wiring, grid and times, wherever no other sim option says otherwise"},
    option{"sim.topology", choice, "flat", "", "flat|mesh|torus|fat_tree|dragonfly", "How the hosts are wired"},
    option{"sim.shape", text, "", "", "", "Extents of a mesh or torus, such as 8x8x4; empty is nearly a cube"},
    option{"sim.switch_ports", integer, "16", "ports", "2..65536",
           "Ports down of each switch of a fat tree; hosts of each router of a dragonfly"},
    option{"sim.hop_latency", duration, "100ns", "", "0..1s", "Time added for each hop beyond the first"},
    option{
        "sim.missing", text, "", "", "",
        "Nodes of the shape that do not exist: places such as 1,2,3:4,5,6, or a share of them such as 1%, drawn by a "
        "number such as in 1%@7; hosts live and messages travel around them"},
    option{"sim.contention", boolean, "false", "", "",
           "Each link of the wiring carries one message at a time, in the order in which they ask for it"},
    option{"sim.port_buffer", bytes, "0B", "", "0B..1TiB",
           "What may wait at a host's port: a sender that finds more waits until it has room; 0B: no limit"},
    option{"sim.input_buffer", bytes, "0B", "", "0B..1TiB",
           "What may wait at a rank to be taken in: messages that find more wait in the network, and the next ones of "
           "their senders where they are; 0B: no limit"},
    option{"sim.switch_buffer", bytes, "0B", "", "0B..1TiB",
           "What the switch keeps for each host: a message from another host is dropped when more than that waits "
           "there, and sent again; 0B: no limit"},
    option{"sim.switch_retry", duration, "1ms", "", "1us..60s",
           "When a message that the switch has dropped is sent again, and with it those behind it"},
    option{"sim.late_probability", real, "0", "", "0..1", "Chance of a message to be late, as a fault to test with"},
    option{"sim.late_factor", real, "20", "times", "1..10000", "How many times longer a late message is on its way"},
    option{"sim.loss_probability", real, "0", "", "0..1",
           "Chance of a datagram to be lost, of an extension module or a message with{.reliable = false}; others never "
           "are"},
};

[[nodiscard]] topology_kind kind_named(const std::string& name) noexcept {
  if (name == "mesh") return topology_kind::mesh;
  if (name == "torus") return topology_kind::torus;
  if (name == "dragonfly") return topology_kind::dragonfly;
  return name == "fat_tree" ? topology_kind::fat_tree : topology_kind::flat;
}

[[nodiscard]] link_model read_link(const config& configuration, const std::string& prefix) {
  return {.latency = configuration.get_duration(prefix + "latency"),
          .send_overhead = configuration.get_duration(prefix + "send_overhead"),
          .receive_overhead = configuration.get_duration(prefix + "receive_overhead"),
          .gap = configuration.get_duration(prefix + "gap"),
          .bytes_per_second = configuration.get_double(prefix + "bandwidth") * 1e9,
          .jitter = configuration.get_double(prefix + "jitter")};
}

[[nodiscard]] topology_kind kind_of(emulated_topology emulated_topology) noexcept {
  switch (emulated_topology) {
    case emulated_topology::mesh:
      return topology_kind::mesh;
    case emulated_topology::torus:
      return topology_kind::torus;
    case emulated_topology::fat_tree:
      return topology_kind::fat_tree;
    case emulated_topology::dragonfly:
      break;
  }
  return topology_kind::dragonfly;
}

/// Refuses machines that this network cannot play.
void check_machine_of(const std::string& path, const emulated_machine& machine) {
  const refusal_words words{.subject = "sim.machine = " + path, .reason = "ranks cannot be simulated on it"};
  check_members(machine, words);
  const auto expect = [&](bool holds, const char* problem, const char* remedy) {
    if (!holds) throw setup_error({words.subject + ": " + problem, words.reason, remedy});
  };
  constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds(500);
  expect(machine.hop <= longest && machine.turn <= longest && machine.injection <= longest,
         "hop, turn or injection is too long", "give at most 0.5s each");
  expect(machine.bandwidth == 0 || machine.bandwidth >= 1e6, "its bandwidth is no megabyte a second",
         "give bytes a second, 1e6 or more, or 0 for no limit");
  expect(machine.packet_bytes * 1e9 >= 1e6 * static_cast<double>(machine.injection.count()),
         "its ports pass no megabyte a second, by packet_bytes for each injection", "give a shorter injection");
}

/// The options and the machine are read apart, and the machine again for the network; a pipe gives its bytes once.
void refuse_pipe(const std::string& path) {
  std::error_code none;
  const std::filesystem::file_type kind = std::filesystem::status(path, none).type();
  if (kind != std::filesystem::file_type::fifo && kind != std::filesystem::file_type::character) return;
  throw setup_error({"sim.machine = " + path + ": this is a pipe or a device", "the file is read several times",
                     "write the machine into a file, and name that"});
}

/// The bytes a second of a port: those of a link, but no more than a packet for each injection; 0: no limit.
[[nodiscard]] double bandwidth_of(const emulated_machine& machine) {
  if (machine.injection.count() == 0) return machine.bandwidth;
  const double port = machine.packet_bytes * 1e9 / static_cast<double>(machine.injection.count());
  return machine.bandwidth == 0 ? port : std::min(port, machine.bandwidth);
}

/// A flat network has no links, so those of the file's machine do not count; what was asked for is refused later.
void drop_links(const config& configuration, network_options& options) {
  options.turn = {};
  if (!configuration.was_set("sim.contention")) options.contention = false;
  if (!configuration.was_set("sim.missing")) options.missing.clear();
}

/// Takes the machine of a file wherever the configuration has no value of its own. Ranks live at its nodes, one at each
/// unless sim.ranks_per_host says more; its processors take no time for messages, and its links add no chance.
void take_machine(const std::string& path, const config& configuration, network_options& options) {
  refuse_pipe(path);
  const emulated_machine machine = read_machine_file(path);
  check_machine_of(path, machine);
  const auto fill = [&](const char* name, auto& member, auto value) {
    if (!configuration.was_set(name)) member = value;
  };
  constexpr std::chrono::nanoseconds none{0};
  // A packet pays one turn, or in a grid that counts them those on its way.
  const bool grid = machine.topology == emulated_topology::mesh || machine.topology == emulated_topology::torus;
  const bool turns = machine.turns == turn_rule::once || !grid;
  if (!turns) options.turn = machine.turn;
  fill("sim.latency", options.remote.latency, machine.hop + (turns ? machine.turn : none));
  fill("sim.hop_latency", options.hop_latency, machine.hop);
  fill("sim.gap", options.remote.gap, machine.injection);
  fill("sim.bandwidth", options.remote.bytes_per_second, bandwidth_of(machine));
  fill("sim.send_overhead", options.remote.send_overhead, none);
  fill("sim.receive_overhead", options.remote.receive_overhead, none);
  fill("sim.jitter", options.remote.jitter, 0.0);
  fill("sim.local_latency", options.local.latency, none);
  fill("sim.local_gap", options.local.gap, none);
  fill("sim.local_bandwidth", options.local.bytes_per_second, 0.0);
  fill("sim.local_send_overhead", options.local.send_overhead, none);
  fill("sim.local_receive_overhead", options.local.receive_overhead, none);
  fill("sim.local_jitter", options.local.jitter, 0.0);
  fill("sim.topology", options.wiring.kind, kind_of(machine.topology));
  fill("sim.shape", options.wiring.shape,
       std::vector{static_cast<std::uint32_t>(machine.grid.x), static_cast<std::uint32_t>(machine.grid.y),
                   static_cast<std::uint32_t>(machine.grid.z)});
  fill("sim.switch_ports", options.wiring.switch_ports, machine.switch_ports);
  fill("sim.missing", options.missing, machine.missing);
  fill("sim.contention", options.contention, machine.contention);
  fill("sim.input_buffer", options.input_buffer, std::uint64_t{machine.input_packets} * machine.packet_bytes);
  fill("sim.port_buffer", options.port_buffer,
       machine.injection.count() > 0 ? std::uint64_t{machine.output_packets} * machine.packet_bytes : std::uint64_t{0});
  if (machine.bandwidth > 0 && !configuration.was_set("sim.bandwidth"))
    options.link_bytes_per_second = machine.bandwidth;
  if (options.wiring.kind == topology_kind::flat) drop_links(configuration, options);
}

/// The extents within which nodes may be missing.
[[nodiscard]] coordinates grid_of(const topology_options& wiring) {
  if (wiring.shape.empty() || wiring.shape.size() > 3) {
    throw setup_error({"sim.missing without a shape of up to three extents", "it names places in it",
                       "give sim.shape, or a sim.machine"});
  }
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  std::copy(wiring.shape.begin(), wiring.shape.end(), extents.begin());
  return {extents[0], extents[1], extents[2]};
}

}  // namespace

std::span<const option> network_option_rows() noexcept { return network_rows; }

void apply_machine_file(config& configuration) {
  constexpr std::string_view itself = "sim.machine";
  const std::string path = configuration.get_string(itself);
  if (path.empty()) return;
  refuse_pipe(path);
  for (const machine_file_option& each : read_simulator_options(path)) {
    if (each.name == itself) {
      throw setup_error({each.place + ": a machine file cannot name another one", "only one machine is simulated",
                         "remove this line"});
    }
    try {
      const bool kept = configuration.is_declared(each.name) && configuration.was_set(each.name);
      if (!kept) configuration.set(each.name, each.text, setting_source::file);
    } catch (const setup_error& error) {
      throw setup_error(each.place + ": " + error.what());
    }
  }
  const emulated_machine machine = read_machine_file(path);
  check_machine_of(path, machine);
  take_node(machine, static_cast<std::uint32_t>(configuration.get_int("sim.ranks_per_host")), configuration);
}

network_options read_network_options(const config& configuration) {
  network_options result;
  result.remote = read_link(configuration, "sim.");
  result.local = read_link(configuration, "sim.local_");
  result.ranks_per_host = static_cast<std::uint32_t>(configuration.get_int("sim.ranks_per_host"));
  result.wiring.kind = kind_named(configuration.get_string("sim.topology"));
  result.wiring.shape = parse_shape(configuration.get_string("sim.shape"));
  result.wiring.switch_ports = static_cast<std::uint32_t>(configuration.get_int("sim.switch_ports"));
  result.hop_latency = configuration.get_duration("sim.hop_latency");
  result.poll = configuration.get_duration("sim.poll");
  result.contention = configuration.get_bool("sim.contention");
  result.port_buffer = static_cast<std::uint64_t>(configuration.get_int("sim.port_buffer"));
  result.input_buffer = static_cast<std::uint64_t>(configuration.get_int("sim.input_buffer"));
  result.switch_buffer = static_cast<std::uint64_t>(configuration.get_int("sim.switch_buffer"));
  result.switch_retry = configuration.get_duration("sim.switch_retry");
  result.late_probability = configuration.get_double("sim.late_probability");
  result.late_factor = configuration.get_double("sim.late_factor");
  result.loss_probability = configuration.get_double("sim.loss_probability");
  const std::string& machine = configuration.get_string("sim.machine");
  if (!machine.empty()) take_machine(machine, configuration, result);
  const std::string& missing = configuration.get_string("sim.missing");
  if (!missing.empty()) result.missing = parse_missing_nodes(missing, grid_of(result.wiring));
  return result;
}

}  // namespace nacre::machine
