// SPDX-License-Identifier: Apache-2.0
// The command line of `emulate`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <nacre/emulator.hpp>

#include "programs.hpp"

namespace emulate {

/// A parsed command line.
struct options {
  const program* runs = nullptr;
  nacre::emulated_machine machine;
  program_parameters parameters;
  std::uint32_t blocks = 0;
  std::string json_path;
  bool quiet = false;
  bool critical_path = false;
  std::string profile_path;
  nacre::emulated_order order = nacre::emulated_order::exact;
  nacre::emulated_moves moves = nacre::emulated_moves::worthwhile;
  std::string against;               ///< options by which the variant differs
  std::shared_ptr<options> variant;  ///< runs afterwards, to be compared; null: there is none
};
struct command_line {
  options asked;
  std::optional<int> exit_code;  ///< when the program is to stop now
};

/// Throws setup_error, or sets exit_code after it has printed why, for anything that is wrong.
[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv);

/// Reads a time such as "5ns", "1us", "0.5ms" or "2s" in whole nanoseconds; nothing for any other text.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_time(const std::string& text);

/// Reads a grid such as "34x34x36" (missing extents are 1); nothing for any other text.
[[nodiscard]] std::optional<nacre::coordinates> parse_grid(const std::string& text);

}  // namespace emulate
