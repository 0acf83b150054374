// SPDX-License-Identifier: Apache-2.0
// Search by one thread in a plain loop: the yardstick for every other way.
#pragma once

#include "progress.hpp"
#include "report.hpp"
#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// Searches the whole tree on the calling thread, without any runtime.
[[nodiscard]] search_result search_sequentially(const tree_params& params, const sha1_kernel& sha1,
                                                progress_line& progress);

}  // namespace uts
