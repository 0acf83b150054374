// SPDX-License-Identifier: Apache-2.0
// The command line of netsort.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "key_costs.hpp"

namespace netsort {

/// Who creates the wires.
enum class placement : std::uint8_t {
  central,     ///< rank 0, which then sends each away to the rank that is to have it: netsortC in the paper
  distributed  ///< each rank its share: netsortD
};

[[nodiscard]] const char* name_of(placement placement) noexcept;

/// What the user asked for.
struct options {
  std::uint32_t values = 1024;  ///< wires, a power of two
  std::uint32_t keys = 1;       ///< on each wire
  placement layout = placement::distributed;
  std::string location{};  ///< a location policy; empty: what --nacre.location says
  std::uint32_t repetitions = 3;
  std::uint32_t wander = 0;  ///< see round_plan
  std::uint64_t seed = 1;    ///< of the keys
  bool measured = false;     ///< keys cost what they take on this processor, where time is simulated
  key_costs costs{};         ///< where time is simulated
  bool json = false;
};

/// A command line that was read.
struct command_line {
  options asked;
  /// Set when there is nothing to run: help was printed (0), or what is wrong and what to try (2, on standard error).
  std::optional<int> exit_code;
};

[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv);

}  // namespace netsort
