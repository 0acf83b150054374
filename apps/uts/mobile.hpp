// SPDX-License-Identifier: Apache-2.0
// Search by mobile objects: parts of the tree that split, move, and report what they have counted.
#pragma once

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

/// Collective: searches the whole tree on all ranks. Every rank gets the result.
[[nodiscard]] search_result search_with_mobile_objects(nacre::runtime& rt, const mobile_options& how);

}  // namespace uts
