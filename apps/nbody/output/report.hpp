// SPDX-License-Identifier: Apache-2.0
// What nbody prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "numerics/direct.hpp"
#include "options.hpp"
#include "parallel/state.hpp"

namespace nbody {

/// What the JSON object has.
struct result {
  bool has_forces = false;  ///< they were compared; else the next is nothing
  force_error forces{};
  double energy_drift = 0;    ///< |E - E0| / |E0|
  double momentum_drift = 0;  ///< |P - P0| / sum of m |v|
  double seconds = 0, interactions_per_s = 0;
  std::uint64_t digest = 0;
};

[[nodiscard]] result result_of(const evolution_state& state, const std::optional<force_error>& forces,
                               std::uint64_t digest);
[[nodiscard]] std::string result_json(const result& result);
/// The title of the lines of progress, and such a line.
[[nodiscard]] std::string progress_title();
[[nodiscard]] std::string progress_line(const evolution_state& state);
[[nodiscard]] std::string result_text(const evolution_state& state, const result& result);

}  // namespace nbody
