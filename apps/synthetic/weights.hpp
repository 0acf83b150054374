// SPDX-License-Identifier: Apache-2.0
// Which core has which objects, and what any schedule of them takes at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "options.hpp"

namespace synthetic {

/// Heavy objects on each core: a fifth of all, on the first two fifths of the cores, at most 7 of 10 on one (PREMA
/// figure 7a). `asked.cores` is not 0.
[[nodiscard]] std::vector<std::uint32_t> heavy_counts(const options& asked);

/// Seconds of every object, by core_of. Throws nacre::setup_error when `asked.recorded` is no file of costs.
[[nodiscard]] std::vector<double> weights(const options& asked);

/// Where the object `index` of `count` lies before anything is balanced: each core has a stretch of the objects.
[[nodiscard]] constexpr std::uint64_t core_of(std::size_t index, std::size_t count, std::uint32_t cores) {
  return static_cast<std::uint64_t>(index) * cores / count;
}

/// When the last core ends if objects start in the order of their weight, the heaviest first, each on the core that is
/// free first: at most 4/3 of the best schedule (Graham 1969).
[[nodiscard]] double longest_first(std::vector<double> seconds, std::uint32_t cores);

/// What static placement takes on the most and on the least loaded core.
struct span_of_cores {
  double least = 0;
  double most = 0;
};
[[nodiscard]] span_of_cores placed(const std::vector<double>& seconds, std::uint32_t cores);

}  // namespace synthetic
