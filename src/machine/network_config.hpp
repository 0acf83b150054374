// SPDX-License-Identifier: Apache-2.0
// The options by which a user describes the simulated network.
#pragma once

#include <span>

#include <nacre/config.hpp>
#include "machine/network.hpp"

namespace nacre::machine {

/// Rows for the configuration, all named "sim.*". Their defaults are those of network_options.
[[nodiscard]] std::span<const option> network_option_rows() noexcept;

/// What a configuration that has declared the rows says. Throws setup_error for a malformed shape.
[[nodiscard]] network_options read_network_options(const config& configuration);

}  // namespace nacre::machine
