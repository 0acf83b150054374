// SPDX-License-Identifier: Apache-2.0
// The processes of a job's ranks, wherever they run, as the launcher's loop sees them.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tool/supervisor.hpp"

namespace nacre::tool {

/// A rank's process has ended.
struct rank_end {
  std::uint32_t rank = 0;
  ending how;
};

/// Nothing blocks. What still runs when it is destroyed is killed. One thread.
class crew {
 public:
  virtual ~crew() = default;

  /// Appends what to sleep on, in addition to SIGCHLD.
  virtual void watch(std::vector<pollfd>& watched) const = 0;
  /// When serve should be called although nothing happens.
  [[nodiscard]] virtual std::optional<time_point> due() const { return std::nullopt; }
  /// Does what can be done now and appends whose process has ended. `child`: a process of this one may have ended.
  /// Throws setup_error when ranks cannot be started.
  virtual void serve(time_point now, bool child, std::vector<rank_end>& ends) = 0;

  /// For the process groups of all ranks that run.
  virtual void signal(int number) = 0;
  /// From now on, whatever a rank has started ends with it.
  virtual void job_ends() = 0;
  /// Output may still come, although all ranks have ended.
  [[nodiscard]] virtual bool has_output() const = 0;
  /// How long to wait for it: processes may outlive the rank that has started them.
  [[nodiscard]] virtual std::chrono::milliseconds last_output_time() const { return std::chrono::milliseconds(500); }
};

}  // namespace nacre::tool
