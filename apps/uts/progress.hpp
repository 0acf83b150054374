// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that shows how far a search is.
#pragma once

#include <cstdint>
#include <optional>

namespace uts {

/// Whether a progress line may be shown at all.
enum class progress_mode { silent, on_terminal };

/// Rewrites one line of standard error a few times a second, and clears it when destroyed, so that only results remain.
/// Shows nothing where standard error is not a terminal. Not thread-safe.
class progress_line {
 public:
  progress_line(progress_mode mode, std::optional<std::uint64_t> nodes_total);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line();

  /// Tells how many nodes there are `seconds` after the start. Cheap unless the line is due again.
  void update(std::uint64_t nodes, double seconds);

 private:
  bool enabled_;
  std::optional<std::uint64_t> nodes_total_;
  double shown_at_seconds_ = 0;  ///< when the line was last written; at first, the start
  std::uint64_t shown_nodes_ = 0;
};

}  // namespace uts
