// SPDX-License-Identifier: Apache-2.0
// The node of a simulated machine: the cost of its handlers, and the threads that take its messages in.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include <nacre/config.hpp>
#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// The share that one rank has of the node on which it lives, besides its workers.
struct node_options {
  std::chrono::nanoseconds handler{0};      ///< of each handler of the program, besides what that charges
  std::uint32_t communication_threads = 0;  ///< that poll in place of the workers; 0: workers poll in turns
};

/// Returns the options of the node, for the configuration. Their defaults equal those of node_options.
[[nodiscard]] std::span<const option> node_option_rows() noexcept;

/// Reads the node from a configuration that has declared these rows.
[[nodiscard]] node_options read_node_options(const config& configuration);

/// Gives the options "workers" and those of node_option_rows the values of a machine's node, of which each of
/// `ranks_per_host` ranks has a share. Options that anybody has set, or that are not declared, stay as they are.
void take_node(const emulated_machine& machine, std::uint32_t ranks_per_host, config& configuration);

}  // namespace nacre::machine
