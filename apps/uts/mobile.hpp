// SPDX-License-Identifier: Apache-2.0
// Search by mobile objects: parts of the tree that split, move, and report what they have counted.
#pragma once

#include <optional>

#include <nacre/nacre.hpp>

#include "progress.hpp"
#include "report.hpp"
#include "search.hpp"
#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// How the search by mobile objects is run.
struct mobile_options {
  tree_params params;
  sha1_choice sha = sha1_choice::automatic;
  progress_mode progress = progress_mode::silent;
  double node_seconds = seconds_a_node;  ///< of a node for each of its hashes, where time is simulated
};

class collector;
/// A search as images of the job keep it (docs/checkpoints.md).
struct search_progress {
  nacre::group_ptr<collector> counters;  ///< the counts
  double started = 0;                    ///< in seconds of the job's time
};

/// Collective: searches the whole tree on all ranks. Every rank gets the result. `now`: rt.restored<search_progress>().
[[nodiscard]] search_result search_with_mobile_objects(nacre::runtime& rt, const mobile_options& options,
                                                       std::optional<search_progress> now = std::nullopt);

}  // namespace uts
