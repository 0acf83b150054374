// SPDX-License-Identifier: Apache-2.0
// The table of network options, and the function that reads them.
#include "machine/network_config.hpp"

#include <array>
#include <string>

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
    option{"sim.topology", choice, "flat", "", "flat|mesh|torus|fat_tree", "How the hosts are wired"},
    option{"sim.shape", text, "", "", "", "Extents of a mesh or torus, such as 8x8x4; empty is nearly a cube"},
    option{"sim.switch_ports", integer, "16", "ports", "2..65536", "Ports down of each switch of a fat tree"},
    option{"sim.hop_latency", duration, "100ns", "", "0..1s", "Time added for each hop beyond the first"},
    option{"sim.late_probability", real, "0", "", "0..1", "Chance of a message to be late, as a fault to test with"},
    option{"sim.late_factor", real, "20", "times", "1..10000", "How many times longer a late message is on its way"},
};

[[nodiscard]] topology_kind kind_named(const std::string& name) noexcept {
  if (name == "mesh") return topology_kind::mesh;
  if (name == "torus") return topology_kind::torus;
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

}  // namespace

std::span<const option> network_option_rows() noexcept { return network_rows; }

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
  result.late_probability = configuration.get_double("sim.late_probability");
  result.late_factor = configuration.get_double("sim.late_factor");
  return result;
}

}  // namespace nacre::machine
