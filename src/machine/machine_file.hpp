// SPDX-License-Identifier: Apache-2.0
// The file that describes a machine, for the emulator and for the simulated network.
#pragma once

#include <string>
#include <vector>

#include <nacre/emulated_machine.hpp>

namespace nacre::machine {

/// Reads a machine from a TOML file, as emulated_machine::from_file does, but does not look whether its values suit
/// each other. Skips the table [sim]. Throws setup_error with file and line.
[[nodiscard]] emulated_machine read_machine_file(const std::string& path);

/// An option of the simulator that a machine file sets in its table [sim].
struct machine_file_option {
  std::string name;   ///< in full, such as sim.cost.send
  std::string text;   ///< its value
  std::string place;  ///< file and line, for messages
};

/// Reads the table [sim] of a machine file; empty if it has none. Throws as read_machine_file does.
[[nodiscard]] std::vector<machine_file_option> read_simulator_options(const std::string& path);

}  // namespace nacre::machine
