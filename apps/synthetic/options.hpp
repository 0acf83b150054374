// SPDX-License-Identifier: Apache-2.0
// The command line of synthetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace synthetic {

/// What a computation does with its worker.
enum class labour : std::uint8_t {
  charge,  ///< declares its time: under sim it passes, elsewhere it is load only
  spin,    ///< computes
  sleep    ///< keeps the worker, which then stands for a core that this host has not
};

/// What the user asked for. Times in seconds.
struct options {
  std::uint32_t cores = 0;  ///< of the machine; 0: as many as all ranks have workers
  std::uint32_t objects_a_core = 10;
  double light_seconds = 32.7;  ///< of a light object, on average
  double heavy_factor = 2.5;
  double spread = 0.03;  ///< by which part an object's weight lies above or below the average of its kind at most
  std::uint32_t computations = 10;  ///< of each object, in messages
  std::uint32_t bytes = 65536;      ///< that an object brings along when it moves
  bool declare = false;             ///< objects say what is left to do, by load() and priority()
  labour labour_kind = labour::charge;
  std::string recorded{};   ///< a file of costs, which is taken instead of the two weights
  double core_seconds = 0;  ///< what recorded costs are multiplied to, of a core on average; 0: as they are
  std::uint64_t seed = 1;
  bool json = false;
};

/// A command line that was read.
struct command_line {
  options asked;
  /// Set when there is nothing to run: help was printed (0), or what is wrong and what to try (2, on standard error).
  std::optional<int> exit_code;
};

/// `transport`: of the job. Throws nacre::setup_error where that has no time in which the objects' work would end.
[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv, const std::string& transport);

}  // namespace synthetic
