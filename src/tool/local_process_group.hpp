// SPDX-License-Identifier: Apache-2.0
// All ranks of a job as processes of this host, started by the launcher itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tool/printer.hpp"
#include "tool/process_group.hpp"
#include "tool/rank_group.hpp"
#include "tool/standard_input.hpp"

namespace nacre::tool {

/// See process_group. The printer reads the output of the ranks.
class local_process_group final : public process_group {
 public:
  /// Starts all ranks, and calls `after_each` when one has started: those that run already call the launcher. When a
  /// rank cannot be started, kills the others and throws setup_error.
  local_process_group(const rank_launch_spec& rank_spec, bool label, printer& out,
                      const std::function<void()>& after_each);

  void watch(std::vector<pollfd>& watched) const override;
  void serve(time_point now, bool child, std::vector<rank_end>& ends) override;
  void signal(int number) override { ranks_.signal(number); }
  void job_ends() override { ranks_.job_ends(); }
  [[nodiscard]] bool has_output() const override { return out_->has_streams(); }

 private:
  printer* out_;
  standard_input input_;
  rank_group ranks_;
};

/// "[3] " for rank 3, or an empty text without `label`.
[[nodiscard]] std::string label_of(std::uint32_t rank, bool label);

}  // namespace nacre::tool
