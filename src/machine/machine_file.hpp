// SPDX-License-Identifier: Apache-2.0
// The file that describes a machine, for the emulator and for the simulated network.
#pragma once

#include <string>

#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// Reads a machine from a TOML file, as emulated_machine::from_file does, but does not look whether its values suit
/// each other. Throws setup_error with file and line.
[[nodiscard]] emulated_machine read_machine_file(const std::string& path);

}  // namespace nacre::machine
