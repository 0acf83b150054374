// SPDX-License-Identifier: Apache-2.0
// The sequential search.
#include "sequential.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "search.hpp"

namespace uts {

search_result search_sequentially(const tree_params& params, const sha1_kernel& sha1, progress_line& progress) {
  using clock = std::chrono::steady_clock;
  // Some milliseconds of hashing between two looks at the clock.
  constexpr std::uint64_t hashes_between_updates = std::uint64_t{1} << 18;
  const std::uint64_t budget = std::max<std::uint64_t>(1, hashes_between_updates / params.granularity);

  const tree searched(params);
  const clock::time_point start = clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  search whole = search::of_whole(searched);
  while (!whole.finished()) {
    whole.advance(searched, sha1, budget);
    progress.update(whole.counts().nodes, seconds());
  }
  return {params, whole.counts(), seconds(), "sequential", sha1.name};
}

}  // namespace uts
