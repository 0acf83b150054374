// SPDX-License-Identifier: Apache-2.0
// The phases of the program in the data of a report's page.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "tool/report/survey.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

/// A list of phases with their sums, and the `spans_max` longest spans of each of these tracks.
[[nodiscard]] nlohmann::ordered_json page_phases(const trace::trace_log& log, const survey& sums,
                                                 const std::vector<std::size_t>& tracks, std::size_t spans_max);

}  // namespace nacre::tool
