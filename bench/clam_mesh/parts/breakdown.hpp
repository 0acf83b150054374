// SPDX-License-Identifier: Apache-2.0
// One run of mesh2d, and where the time of each rank went.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace clam_mesh {

/// Seconds of a worker of the rank on average.
struct rank_time {
  double computing = 0;  ///< in handlers
  double messages = 0;   ///< in the runtime, between handlers: messages, the scheduler, the poll loop
  double balancing = 0;  ///< looks of the balancer, and objects packed and unpacked
  double idle = 0;
};

/// What one run has shown.
struct breakdown {
  double seconds = 0;  ///< from the first message to quiescence
  std::uint64_t triangles = 0;
  std::uint64_t moves = 0, split_messages = 0;
  bool checked = false;
  std::vector<rank_time> ranks{};

  /// Messages and balancing, as a part of the time of all ranks.
  [[nodiscard]] double overhead() const;
  /// The longest time in handlers.
  [[nodiscard]] double busiest() const;
  /// What no placement could undercut: all time in handlers, shared alike.
  [[nodiscard]] double ideal() const;
};

/// Runs mesh2d with these words behind the words that launch it. Throws std::runtime_error, with the command, when that
/// fails, and when its check does.
[[nodiscard]] breakdown run_mesh2d(const std::vector<std::string>& launcher, const std::vector<std::string>& words);

[[nodiscard]] nlohmann::ordered_json json_of(const breakdown& breakdown);

/// Bars of all ranks, a panel for each run, as an SVG image.
[[nodiscard]] std::string drawn(const std::vector<std::string>& names, const std::vector<breakdown>& runs);

}  // namespace clam_mesh
