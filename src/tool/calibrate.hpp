// SPDX-License-Identifier: Apache-2.0
// `nacre calibrate`: measures this machine, and writes a machine file for the simulator and the emulator.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace nacre::tool {

/// The arguments of the command.
struct calibrate_arguments {
  std::string out = "machine.toml";
  std::string json{};
  bool quick = false;
  std::string serve{};  ///< for ranks that the command itself starts: what they measure
};
CLI::App* add_calibrate(CLI::App& app, calibrate_arguments& given);

/// Measures, prints a table and writes the file; progress goes to standard error. Returns the exit code. Throws
/// setup_error.
[[nodiscard]] int run_calibrate(const calibrate_arguments& given);

}  // namespace nacre::tool
