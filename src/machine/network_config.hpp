// SPDX-License-Identifier: Apache-2.0
// The options by which a user describes the simulated network.
#pragma once

#include <span>

#include <nacre/config.hpp>
#include "machine/network.hpp"

namespace nacre::machine {

/// Returns the options named "sim.*", for the configuration. Their defaults equal those of network_options.
[[nodiscard]] std::span<const option> network_option_rows() noexcept;

/// Where sim.machine names a file, gives the options of its table [sim] the values there, and the options of the node
/// those of the machine (take_node), unless they have been set. For a configuration that has declared these rows and
/// those of runtime_cost_rows. Throws setup_error, with file and line, for an unknown option or a bad value, and for a
/// machine that cannot be simulated.
void apply_machine_file(config& configuration);

/// Reads the network options from a configuration that has declared these rows. Throws setup_error for a malformed
/// shape.
[[nodiscard]] network_options read_network_options(const config& configuration);

}  // namespace nacre::machine
