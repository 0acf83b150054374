// SPDX-License-Identifier: Apache-2.0
// The benchmark itself: objects are made on rank 0, dispersed, computed, and each tells rank 0 that it is done.
#pragma once

#include <cstdint>

#include <nacre/nacre.hpp>

#include "options.hpp"

namespace synthetic {

/// What a run has shown; on rank 0.
struct result {
  std::uint32_t cores = 0;
  std::uint64_t objects = 0;
  double dispersed_seconds = 0;      ///< from the start until every object was in its place
  double seconds = 0;                ///< from then until rank 0 had all notices
  double least_core_seconds = 0;     ///< computation on the worker that had least of it
  double most_core_seconds = 0;      ///< and on the one that had most
  double longest_first_seconds = 0;  ///< see weights.hpp; for as many cores as there are workers
  double placed_seconds = 0;         ///< computation on the most loaded core if every object stayed
  std::uint64_t moves = 0;           ///< of objects, after they were dispersed
  bool exact = false;                ///< every object was computed as often as asked, and told so once
};

/// Collective.
[[nodiscard]] result run_benchmark(nacre::runtime& rt, const options& asked);

}  // namespace synthetic
