// SPDX-License-Identifier: Apache-2.0
// What uts tells its user: the result, the table of trees, and the line that shows progress.
#pragma once

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
/// nodes_per_second, known (source, nodes, leaves, depth; or null) and verdict (match, MISMATCH or unknown).
[[nodiscard]] std::string result_json(const search_result& result);

/// The table of named trees.
[[nodiscard]] std::string preset_list();

/// The progress line, without line ends: "uts: 43.1 M nodes, 52.7 M/s, 42 % of 102 M, 1.1 s left".
[[nodiscard]] std::string progress_text(std::uint64_t nodes, double nodes_per_second,
                                        std::optional<std::uint64_t> nodes_total);

}  // namespace uts
