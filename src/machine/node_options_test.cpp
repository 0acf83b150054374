// SPDX-License-Identifier: Apache-2.0
// A rank takes its threads and the cost of its handlers from the machine's node, where no option says otherwise.
#include "machine/node_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>
#include "machine/network_config.hpp"
#include "machine/runtime_cost_table.hpp"

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;
using setting = std::pair<const char*, const char*>;

constexpr option worker_rows[] = {{"workers", option_kind::integer, "0", "threads", "0..65536", ""}};

/// The options of a rank on the machine that a file with this text describes.
[[nodiscard]] config on_machine(const std::string& text, const std::vector<setting>& settings = {}) {
  const std::string path = testing::TempDir() + "nacre_node_" + std::to_string(getpid()) + ".toml";
  std::ofstream(path) << text;
  config configuration{option_table{"network", network_option_rows()}, option_table{"node", node_option_rows()},
                       option_table{"costs", runtime_cost_rows()}, option_table{"runtime", worker_rows}};
  configuration.set("sim.machine", path);
  for (const auto& [name, value] : settings) configuration.set(name, value);
  apply_machine_file(configuration);
  return configuration;
}

const std::string node = "grid = [2, 2, 1]\nhop = '5ns'\nthreads = 200\ncommunication_threads = 20\nhandler = '1us'\n";

TEST(node_options, the_defaults_of_the_table_are_those_of_the_code) {
  const node_options options = read_node_options(config{option_table{"node", node_option_rows()}});
  const node_options expected;
  EXPECT_EQ(options.handler, expected.handler);
  EXPECT_EQ(options.communication_threads, expected.communication_threads);
}

TEST(node_options, a_machine_file_gives_the_threads_and_the_cost_of_a_handler) {
  const config configuration = on_machine(node);
  EXPECT_EQ(configuration.get_int("workers"), 180);
  EXPECT_EQ(read_node_options(configuration).communication_threads, 20U);
  EXPECT_EQ(read_node_options(configuration).handler, nanoseconds(1000));
  EXPECT_EQ(read_network_options(configuration).input_buffer, 32U * 128U) << "as the emulator has by default";
}

TEST(node_options, what_a_user_or_the_table_sim_sets_wins) {
  const config by_user = on_machine(
      node, {{"workers", "3"}, {"sim.communication_threads", "0"}, {"sim.handler", "7ns"}, {"sim.input_buffer", "0B"}});
  EXPECT_EQ(by_user.get_int("workers"), 3);
  EXPECT_EQ(read_node_options(by_user).communication_threads, 0U);
  EXPECT_EQ(read_node_options(by_user).handler, nanoseconds(7));
  EXPECT_EQ(read_network_options(by_user).input_buffer, 0U);
  const config by_table = on_machine(node + "[sim]\nhandler = '9ns'\n");
  EXPECT_EQ(read_node_options(by_table).handler, nanoseconds(9));
}

TEST(node_options, ranks_of_one_host_share_its_threads) {
  const config shared = on_machine(node, {{"sim.ranks_per_host", "20"}});
  EXPECT_EQ(shared.get_int("workers"), 9);
  EXPECT_EQ(read_node_options(shared).communication_threads, 1U);
  const config crowded = on_machine(node, {{"sim.ranks_per_host", "400"}});
  EXPECT_EQ(crowded.get_int("workers"), 1);
  EXPECT_EQ(read_node_options(crowded).communication_threads, 1U);
}

TEST(node_options, a_machine_with_nonsense_is_refused_with_a_sentence) {
  for (const auto& [lines, words] : {setting{"threads = 0", "threads = 0"},
                                     {"threads = 4\ncommunication_threads = 4", "leave one worker thread"},
                                     {"handler = '2h'", "unit ns, us, ms or s"},
                                     {"handler = '-1ns'", "handler is not"},
                                     {"handler = '7200s'", "between 0 and one hour"},
                                     {"input_packets = -1", "input_packets is not"},
                                     {"packet_bytes = 0", "use 8 to 128"},
                                     {"missing = [[9, 0, 0]]", "name nodes inside of the grid"},
                                     {"threads = 'many'", "threads is not"}}) {
    try {
      static_cast<void>(on_machine("grid = [2, 2, 1]\nhop = '5ns'\n" + std::string(lines) + "\n"));
      ADD_FAILURE() << lines;
    } catch (const setup_error& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(words), std::string::npos) << refusal.what();
      EXPECT_NE(std::string(refusal.what()).find(".toml"), std::string::npos) << refusal.what();
    }
  }
}

}  // namespace
}  // namespace nacre::machine
