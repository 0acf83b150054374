// SPDX-License-Identifier: Apache-2.0
// The scheduler `lifo`: the newest first, so that work goes on where the caches are warm.
#pragma once

#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

/// A worker takes the newest item of its own queue, then the oldest of others. So a tree of work needs memory for its
/// depth, and thieves get its large parts (Blumofe and Leiserson, 1999). Once in `pops_between_looks` pops it takes
/// the oldest item, so that none waits for ever below work that renews itself.
class lifo_scheduler final : public thread_deques<thread_queue> {
 public:
  using thread_deques::thread_deques;
  [[nodiscard]] work* pop(worker_id worker) override;
  [[nodiscard]] bool newest_first() const override { return true; }
};

}  // namespace nacre
