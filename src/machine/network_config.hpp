// SPDX-License-Identifier: Apache-2.0
// The options by which a user describes the simulated network.
#pragma once

#include <span>

#include <nacre/config.hpp>
#include "machine/network.hpp"

namespace nacre::machine {

/// Returns the options named "sim.*", for the configuration. Their defaults equal those of network_options.
[[nodiscard]] std::span<const option> network_option_rows() noexcept;

/// Reads the network options from a configuration that has declared these rows. Throws setup_error for a malformed
/// shape.
[[nodiscard]] network_options read_network_options(const config& configuration);

}  // namespace nacre::machine
