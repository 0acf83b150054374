// SPDX-License-Identifier: Apache-2.0
// What uts tells its user: the result, the table of trees, and the line that shows progress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traverse.hpp"
#include "tree_params.hpp"

namespace uts {

/// How ranks have shared a search by messages.
struct sharing_figures {
  double last_node = 0;        ///< seconds after the begin; what is left of search_result::seconds is finding the end
  std::uint64_t chunks = 0;    ///< that were given away
  std::uint64_t refusals = 0;  ///< requests that were answered by none; stealing
  std::uint64_t chunks_near = 0;  ///< of `chunks`, those for a rank of the giver's host; stealing that knows hosts
  // Messages overtake each other, so all ranks may wait while something is still under way. The counters in requests
  // and in the token tell that. So often only they have put off the end.
  std::uint64_t work_outrun = 0;      ///< work was under way, which requests or the token had outrun
  std::uint64_t requests_outrun = 0;  ///< requests or refusals were, which the token had outrun; stealing

  /// Adds up the counts of ranks; `last_node` is the latest.
  friend sharing_figures operator+(sharing_figures a, const sharing_figures& b) {
    a.last_node = std::max(a.last_node, b.last_node);
    a.chunks += b.chunks;
    a.refusals += b.refusals;
    a.chunks_near += b.chunks_near;
    a.work_outrun += b.work_outrun;
    a.requests_outrun += b.requests_outrun;
    return a;
  }
};

/// A finished search.
struct search_result {
  tree_params params;
  tree_counts counts;
  double seconds = 0;         ///< of the search alone, without the tables' construction
  std::string_view mode;      ///< "sequential", ..
  std::string_view sha;       ///< name of the SHA-1 implementation
  sharing_figures sharing{};  ///< with mode "stealing" and "sharing"

  [[nodiscard]] double nodes_per_second() const noexcept;
};

/// How the counts compare with what is known about the tree.
enum class verdict { match, mismatch, unknown };

[[nodiscard]] verdict judge(const search_result& result);

/// Several lines for people, with the published counts beside those counted.
[[nodiscard]] std::string result_text(const search_result& result);

/// One JSON object on one line: tree (name or null), parameters, mode, sha, nodes, leaves, depth, seconds,
/// nodes_per_second, known (source, nodes, leaves, depth; or null) and verdict (match, MISMATCH or unknown). A search
/// by messages between ranks has sharing, too: the members of sharing_figures.
[[nodiscard]] std::string result_json(const search_result& result);

/// The table of named trees.
[[nodiscard]] std::string preset_list();

/// The progress line, without line ends: "uts: 43.1 M nodes, 52.7 M/s, 42 % of 102 M, 1.1 s left".
[[nodiscard]] std::string progress_text(std::uint64_t nodes, double nodes_per_second,
                                        std::optional<std::uint64_t> nodes_total);

}  // namespace uts
