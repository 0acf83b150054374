// SPDX-License-Identifier: Apache-2.0
// What a node costs where time is simulated: a constant, a given time, or what it takes on this processor.
#pragma once

#include <optional>
#include <string_view>

#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// Seconds of this processor that one hash of a node of this tree takes, by the search itself in the steps in which
/// objects take it; the least of some stretches. Takes a tenth of a second.
[[nodiscard]] double measured_seconds_a_node(const tree_params& params, const sha1_kernel& sha1);

/// What the user gave as the cost of a node.
struct node_cost {
  bool measured = false;
  double seconds = 0;  ///< if it is not measured
};
/// Reads "measured", or a time such as 12.5ns or 1us; nothing for any other text.
[[nodiscard]] std::optional<node_cost> parse_node_cost(std::string_view text);

}  // namespace uts
