// SPDX-License-Identifier: Apache-2.0
// The table of the node's options, and how a machine file fills them.
#include "machine/node_options.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace nacre::machine {
namespace {

using enum option_kind;

constexpr std::array node_rows{
    option{"sim.handler", duration, "0ns", "", "0..1h",
           "Time that each handler of the program takes, besides what it charges"},
    option{
        "sim.communication_threads", integer, "0", "threads", "0..60000",
        "Threads of a rank that take messages in, one at a time, while its workers run handlers only; 0: the workers "
        "take turns at that"},
};

/// The share of one rank, at least 1 where the node has any.
[[nodiscard]] std::uint32_t share_of(std::uint32_t threads, std::uint32_t ranks) {
  return threads == 0 ? 0 : std::max(threads / ranks, 1U);
}

}  // namespace

std::span<const option> node_option_rows() noexcept { return node_rows; }

node_options read_node_options(const config& configuration) {
  return {.handler = configuration.get_duration("sim.handler"),
          .communication_threads = static_cast<std::uint32_t>(configuration.get_int("sim.communication_threads"))};
}

void take_node(const emulated_machine& machine, std::uint32_t ranks_per_host, config& configuration) {
  const auto fill = [&](const char* name, const std::string& text) {
    if (!configuration.is_declared(name) || configuration.was_set(name)) return;
    configuration.set(name, text, setting_source::file);
  };
  fill("workers", std::to_string(share_of(machine.threads - machine.communication_threads, ranks_per_host)));
  fill("sim.communication_threads", std::to_string(share_of(machine.communication_threads, ranks_per_host)));
  fill("sim.handler", std::to_string(machine.handler.count()) + "ns");
}

}  // namespace nacre::machine
