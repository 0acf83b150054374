// SPDX-License-Identifier: Apache-2.0
// The options of the network: their defaults are the documented ones, and each reaches its field.
#include "machine/network_config.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>
#include "machine/machine_file.hpp"
#include "machine/network.hpp"
#include "machine/runtime_cost_table.hpp"

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

[[nodiscard]] config declared_network() { return config{option_table{"simulated network", network_option_rows()}}; }

void expect_equal(const link_model& model, const link_model& expected) {
  EXPECT_EQ(model.latency, expected.latency);
  EXPECT_EQ(model.send_overhead, expected.send_overhead);
  EXPECT_EQ(model.receive_overhead, expected.receive_overhead);
  EXPECT_EQ(model.gap, expected.gap);
  EXPECT_DOUBLE_EQ(model.bytes_per_second, expected.bytes_per_second);
  EXPECT_DOUBLE_EQ(model.jitter, expected.jitter);
}

TEST(network_config, the_defaults_of_the_table_are_those_of_the_code) {
  const network_options options = read_network_options(declared_network());
  const network_options expected;
  expect_equal(options.remote, expected.remote);
  expect_equal(options.local, expected.local);
  EXPECT_EQ(options.ranks_per_host, expected.ranks_per_host);
  EXPECT_EQ(options.wiring.kind, expected.wiring.kind);
  EXPECT_EQ(options.wiring.shape, expected.wiring.shape);
  EXPECT_EQ(options.wiring.switch_ports, expected.wiring.switch_ports);
  EXPECT_EQ(options.hop_latency, expected.hop_latency);
  EXPECT_EQ(options.poll, expected.poll);
  EXPECT_EQ(options.input_buffer, expected.input_buffer);
  EXPECT_DOUBLE_EQ(options.late_probability, expected.late_probability);
  EXPECT_DOUBLE_EQ(options.late_factor, expected.late_factor);
  EXPECT_DOUBLE_EQ(options.loss_probability, expected.loss_probability);
}

TEST(network_config, every_option_reaches_its_field) {
  config configuration = declared_network();
  for (const auto& [name, text] : {std::pair{"sim.latency", "2us"},
                                   {"sim.send_overhead", "1ns"},
                                   {"sim.receive_overhead", "2ns"},
                                   {"sim.gap", "3ns"},
                                   {"sim.bandwidth", "2.5"},
                                   {"sim.jitter", "0.5"},
                                   {"sim.local_latency", "4ns"},
                                   {"sim.local_send_overhead", "5ns"},
                                   {"sim.local_receive_overhead", "6ns"},
                                   {"sim.local_gap", "7ns"},
                                   {"sim.local_bandwidth", "100"},
                                   {"sim.local_jitter", "0"},
                                   {"sim.ranks_per_host", "8"},
                                   {"sim.topology", "torus"},
                                   {"sim.shape", "4x2"},
                                   {"sim.switch_ports", "9"},
                                   {"sim.hop_latency", "10ns"},
                                   {"sim.poll", "11ns"},
                                   {"sim.input_buffer", "3KiB"},
                                   {"sim.late_probability", "0.25"},
                                   {"sim.late_factor", "3"},
                                   {"sim.loss_probability", "0.25"}}) {
    configuration.set(name, text);
  }
  const network_options options = read_network_options(configuration);
  expect_equal(options.remote, {nanoseconds(2000), nanoseconds(1), nanoseconds(2), nanoseconds(3), 2.5e9, 0.5});
  expect_equal(options.local, {nanoseconds(4), nanoseconds(5), nanoseconds(6), nanoseconds(7), 100e9, 0});
  EXPECT_EQ(options.ranks_per_host, 8U);
  EXPECT_EQ(options.wiring.kind, topology_kind::torus);
  EXPECT_EQ(options.wiring.shape, (std::vector<std::uint32_t>{4, 2}));
  EXPECT_EQ(options.wiring.switch_ports, 9U);
  EXPECT_EQ(options.hop_latency, nanoseconds(10));
  EXPECT_EQ(options.poll, nanoseconds(11));
  EXPECT_EQ(options.input_buffer, 3072U);
  EXPECT_DOUBLE_EQ(options.late_probability, 0.25);
  EXPECT_DOUBLE_EQ(options.late_factor, 3);
  EXPECT_DOUBLE_EQ(options.loss_probability, 0.25);
}

TEST(network_config, each_topology_has_its_name) {
  for (const auto& [name, kind] : {std::pair{"flat", topology_kind::flat},
                                   {"mesh", topology_kind::mesh},
                                   {"torus", topology_kind::torus},
                                   {"fat_tree", topology_kind::fat_tree},
                                   {"dragonfly", topology_kind::dragonfly}}) {
    config configuration = declared_network();
    configuration.set("sim.topology", name);
    EXPECT_EQ(read_network_options(configuration).wiring.kind, kind) << name;
  }
}

/// A file with this machine, and a configuration that names it.
config with_machine(const std::string& text) {
  const std::string path = testing::TempDir() + "nacre_sim_machine_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  config configuration = declared_network();
  configuration.set("sim.machine", path);
  return configuration;
}

TEST(network_config, a_machine_that_comes_through_a_pipe_is_refused_and_not_waited_for) {
  const std::string path = testing::TempDir() + "nacre_machine_pipe_" + std::to_string(getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  config configuration = declared_network();
  configuration.set("sim.machine", path);
  const auto expect_refused = [&](auto read) {
    try {
      read();
      ADD_FAILURE() << "accepted";
    } catch (const setup_error& error) {
      EXPECT_NE(std::string(error.what()).find("this is a pipe"), std::string::npos) << error.what();
    }
  };
  expect_refused([&] { apply_machine_file(configuration); });
  expect_refused([&] { static_cast<void>(read_network_options(configuration)); });
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST(network_config, a_machine_file_gives_what_no_option_says) {
  config configuration = with_machine(
      "grid = [34, 33, 36]\nhop = '5ns'\nturn = '75ns'\ninjection = '4ns'\nbandwidth = 2e9\ntopology = 'torus'\n");
  const network_options whole = read_network_options(configuration);
  expect_equal(whole.remote, {nanoseconds(80), nanoseconds(0), nanoseconds(0), nanoseconds(4), 2e9, 0});
  expect_equal(whole.local, {nanoseconds(0), nanoseconds(0), nanoseconds(0), nanoseconds(0), 0, 0});
  EXPECT_EQ(whole.hop_latency, nanoseconds(5));
  EXPECT_EQ(whole.wiring.kind, topology_kind::torus);
  EXPECT_EQ(whole.wiring.shape, (std::vector<std::uint32_t>{34, 33, 36}));
  configuration.set("sim.latency", "1us");
  configuration.set("sim.topology", "mesh");
  const network_options changed = read_network_options(configuration);
  EXPECT_EQ(changed.remote.latency, nanoseconds(1000));
  EXPECT_EQ(changed.wiring.kind, topology_kind::mesh);
  EXPECT_EQ(changed.hop_latency, nanoseconds(5));
}

TEST(network_config, a_machine_file_gives_missing_nodes_contention_and_full_ports) {
  config configuration = with_machine(
      "grid = [4, 4, 4]\nhop = '5ns'\nbandwidth = 1e9\ncontention = true\nmissing = [[1, 2, 3]]\ninjection = '640ns'\n"
      "output_packets = 4\npacket_bytes = 64\n");
  const network_options options = read_network_options(configuration);
  EXPECT_EQ(options.missing, (std::vector<coordinates>{{1, 2, 3}}));
  EXPECT_TRUE(options.contention);
  EXPECT_DOUBLE_EQ(options.link_bytes_per_second, 1e9);
  EXPECT_DOUBLE_EQ(options.remote.bytes_per_second, 1e8) << "a packet for each injection";
  EXPECT_EQ(options.port_buffer, 4U * 64U);
  configuration.set("sim.missing", "0,0,1:3,3,3");
  configuration.set("sim.contention", "off");
  configuration.set("sim.port_buffer", "1KiB");
  const network_options changed = read_network_options(configuration);
  EXPECT_EQ(changed.missing, (std::vector<coordinates>{{0, 0, 1}, {3, 3, 3}}));
  EXPECT_FALSE(changed.contention);
  EXPECT_EQ(changed.port_buffer, 1024U);
}

TEST(network_config, a_flat_network_has_no_links_of_a_machine_file) {
  config configuration = with_machine(
      "grid = [4, 4, 4]\nhop = '5ns'\nturn = '75ns'\nturns = 'counted'\nbandwidth = 1e9\ncontention = true\n"
      "missing = [[1, 2, 3]]\n");
  configuration.set("sim.topology", "flat");
  const network_options options = read_network_options(configuration);
  EXPECT_EQ(options.turn, nanoseconds(0));
  EXPECT_FALSE(options.contention);
  EXPECT_TRUE(options.missing.empty());
  static_cast<void>(network(options, 8, rng(1)));
  configuration.set("sim.contention", "true");
  EXPECT_THROW(network(read_network_options(configuration), 8, rng(1)), setup_error) << "asked for, and not there";
}

TEST(network_config, nodes_can_be_missing_only_in_a_shape) {
  config configuration = declared_network();
  configuration.set("sim.topology", "mesh");
  configuration.set("sim.missing", "1%");
  EXPECT_THROW((void)read_network_options(configuration), setup_error);
  configuration.set("sim.shape", "10x20");
  EXPECT_EQ(read_network_options(configuration).missing.size(), 2U);
}

TEST(network_config, a_machine_file_may_name_each_wiring_and_count_turns) {
  for (const auto& [name, kind] : {std::pair{"mesh", topology_kind::mesh},
                                   {"torus", topology_kind::torus},
                                   {"fat_tree", topology_kind::fat_tree},
                                   {"dragonfly", topology_kind::dragonfly}}) {
    const network_options options = read_network_options(
        with_machine("grid = [4, 4, 4]\nhop = '5ns'\nturn = '75ns'\nturns = 'counted'\nswitch_ports = 6\ntopology = '" +
                     std::string(name) + "'\n"));
    EXPECT_EQ(options.wiring.kind, kind);
    EXPECT_EQ(options.wiring.switch_ports, 6U);
    const bool grid = kind == topology_kind::mesh || kind == topology_kind::torus;
    EXPECT_EQ(options.remote.latency, nanoseconds(grid ? 5 : 80)) << name << ": through switches there is one turn";
    EXPECT_EQ(options.turn, nanoseconds(grid ? 75 : 0)) << name << ": those on the way";
    EXPECT_DOUBLE_EQ(options.remote.bytes_per_second, 0) << "no limit";
  }
}

TEST(network_config, a_long_message_takes_the_port_as_long_as_its_packets) {
  const network_options options =
      read_network_options(with_machine("grid = [4, 4, 4]\ninjection = '40ns'\npacket_bytes = 128\nbandwidth = 5e9\n"));
  EXPECT_DOUBLE_EQ(options.remote.bytes_per_second, 128 / 40e-9);
}

/// A configuration of all rows, with a machine file of this text applied.
config applied(const std::string& text, const std::string& set_name = "", const std::string& set_text = "") {
  config configuration = with_machine(text);
  configuration.declare(std::array{option_table{"runtime costs", runtime_cost_rows()}});
  if (!set_name.empty()) configuration.set(set_name, set_text);
  apply_machine_file(configuration);
  return configuration;
}

TEST(network_config, a_machine_file_may_set_any_option_of_the_simulator) {
  const std::string text =
      "grid = [2, 1, 1]\nhop = '5ns'\n[sim]\nlatency = '7us'\nbandwidth = 2.5\nranks_per_host = 2\n"
      "topology = 'torus'\nshape = '3x1'\n[sim.cost]\nsend = '90ns'\n";
  const config configuration = applied(text);
  const network_options network = read_network_options(configuration);
  EXPECT_EQ(network.remote.latency, nanoseconds(7000)) << "and not what hop and turn make";
  EXPECT_DOUBLE_EQ(network.remote.bytes_per_second, 2.5e9);
  EXPECT_EQ(network.ranks_per_host, 2U);
  EXPECT_EQ(network.wiring.kind, topology_kind::torus);
  EXPECT_EQ(network.wiring.shape, (std::vector<std::uint32_t>{3, 1}));
  EXPECT_EQ(network.remote.gap, nanoseconds(0)) << "as the machine itself says";
  EXPECT_EQ(read_runtime_costs(configuration).picoseconds(own_work::send), 90'000U);
  EXPECT_EQ(read_runtime_costs(configuration).picoseconds(own_work::receive), 80'000U) << "the default";
  const config by_user = applied(text, "sim.latency", "1us");
  EXPECT_EQ(read_network_options(by_user).remote.latency, nanoseconds(1000)) << "what a user sets wins";
  EXPECT_EQ(read_machine_file(configuration.get_string("sim.machine")).hop, nanoseconds(5)) << "for the emulator";
}

TEST(network_config, a_bad_option_in_a_machine_file_is_refused_with_its_line) {
  for (const auto& [text, complaint] : {std::pair{"sim.latncy = '1us'", "did you mean"},
                                        {"sim.latency = '1mile'", "1mile"},
                                        {"sim.latency = [1, 2]", "a list or a date"},
                                        {"sim.latency = true", "sim.latency=true"},
                                        {"sim.machine = 'other.toml'", "another"},
                                        {"sim = 3", "a machine has no sim"}}) {
    try {
      const config configuration = applied("grid = [2, 1, 1]\n" + std::string(text) + "\n");
      static_cast<void>(read_network_options(configuration));
      ADD_FAILURE() << text;
    } catch (const setup_error& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(".toml:2: "), std::string::npos) << refusal.what();
      EXPECT_NE(std::string(refusal.what()).find(complaint), std::string::npos) << refusal.what();
    }
  }
}

TEST(network_config, a_machine_file_that_cannot_be_simulated_is_refused) {
  for (const char* text : {"grid = [3, 3]\n", "hop = '5ns'\n", "grid = [3, 3, 3]\nbandwidth = 100000\n",
                           "grid = [3, 3, 3]\nbandwidth = -5.0\n", "grid = [3, 3, 3]\nhop = '2000s'\n",
                           "grid = [3, 3, 3]\ninjection = '1000000000s'\n", "grid = [3, 3, 3]\ninjection = '1ms'\n",
                           "grid = [3, 0, 3]\ntopology = 'fat_tree'\n"}) {
    EXPECT_THROW((void)read_network_options(with_machine(text)), setup_error) << text;
  }
}

TEST(network_config, nonsense_is_refused_at_set_up) {
  for (const auto& [name, text] : {std::pair{"sim.bandwidth", "0"},
                                   {"sim.late_probability", "1.5"},
                                   {"sim.late_factor", "0.5"},
                                   {"sim.loss_probability", "1.5"},
                                   {"sim.ranks_per_host", "0"},
                                   {"sim.latency", "-1us"},
                                   {"sim.topology", "ring"}}) {
    config configuration = declared_network();
    EXPECT_THROW(configuration.set(name, text), setup_error) << name;
  }
  config configuration = declared_network();
  configuration.set("sim.shape", "4by4");
  EXPECT_THROW((void)read_network_options(configuration), setup_error);
}

}  // namespace
}  // namespace nacre::machine
