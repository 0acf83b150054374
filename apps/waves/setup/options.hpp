// SPDX-License-Identifier: Apache-2.0
// The command lines of waves and of waves_mpi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "setup/cases.hpp"

namespace waves {

struct options {
  std::string input{};  ///< a TOML file; empty: the case
  known_case base_case = known_case::none;
  std::optional<double> h{};     ///< none: that of the file or of the case
  std::optional<double> time{};  ///< as above
  std::optional<double> step{};  ///< as above
  bool unsafe_step = false;
  std::string interface {};  ///< empty: as above
  loh1_options loh1;
  std::uint32_t patches = 0;  ///< 0: two for each worker
  std::uint32_t chunk = 20;   ///< steps between two waits of all ranks
  std::string kernels = "auto";
  std::string reference{}, seismograms{}, snapshots{}, plane = "z=0", json{};
  double every = 0;  ///< seconds between snapshots; 0: only at the end
  bool quiet = false;
};

struct command_line {
  options asked;
  /// Set when there is nothing to run: 0 after help, 2 after an error.
  std::optional<int> exit_code;
};
[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv);

/// What is to be computed: with an exact solution three grids, each of half the spacing of the one before. Everything
/// has been checked; throws nacre::setup_error.
[[nodiscard]] std::vector<description> descriptions(const options& asked);
/// Returns the row kernels that the options ask for. Throws nacre::setup_error if the processor cannot run them.
[[nodiscard]] const row_kernels& chosen_kernels(const options& asked);

}  // namespace waves
