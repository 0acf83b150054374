// SPDX-License-Identifier: Apache-2.0
// What the page of a report shows, reduced to a size that a browser takes whatever the length of the run.
#pragma once

#include <cstddef>
#include <string>

#include "tool/report/survey.hpp"
#include "trace/trace_log.hpp"

namespace nacre::tool {

/// How much of what the page may hold.
struct page_bounds {
  std::size_t rows = 4096;         ///< of lanes; neighbours share one when there are more
  std::size_t cells = 1'250'000;   ///< rows times bins of time
  std::size_t spans = 1'000'000;   ///< single segments, the longest of all; shorter ones are in the cells alone
  std::size_t passages = 20'000;   ///< migrations, and as many steals; of more, a part that is spread evenly
  std::size_t matrix_sides = 256;  ///< ranks; neighbours share one when there are more
};

/// JSON, for which src/tool/report/page/model.js is the reader. Below 20 MB within the default bounds.
[[nodiscard]] std::string page_data(const trace::trace_log& log, const survey& sums, const page_bounds& bounds = {});

}  // namespace nacre::tool
