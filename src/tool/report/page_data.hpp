// SPDX-License-Identifier: Apache-2.0
// The data of a report's page, reduced to a size that a browser can show, for runs of any length.
#pragma once

#include <cstddef>
#include <string>

#include "tool/report/survey.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

/// Limits for the data of a page.
struct page_bounds {
  std::size_t rows = 4096;            ///< of tracks; neighbours share one when there are more
  std::size_t cells = 1'250'000;      ///< rows times bins of time
  std::size_t spans = 1'000'000;      ///< single segments, the longest ones; the others are only in the cells
  std::size_t phase_spans = 200'000;  ///< single spans of phases, the longest ones
  std::size_t passages = 20'000;      ///< migrations, and as many steals; if there are more, an even sample
  std::size_t matrix_sides = 256;     ///< ranks; neighbours share one when there are more
};

/// The data as JSON, which src/tool/report/page/model.js reads. Less than 20 MB with the default bounds.
[[nodiscard]] std::string page_data(const trace::trace_log& log, const survey& sums, const page_bounds& bounds = {});

}  // namespace nacre::tool
