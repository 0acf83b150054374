// SPDX-License-Identifier: Apache-2.0
// The scheduler `lifo`: what was made last first, so that work goes on where the caches are warm.
#pragma once

#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

/// A worker takes the newest of its own queue, then the oldest of others: a tree of work needs room for its depth, and
/// thieves get its large parts (Blumofe and Leiserson, 1999). Once in `pops_between_looks` it takes what is oldest, so
/// that nothing waits for ever below work that renews itself.
class lifo_scheduler final : public thread_deques {
 public:
  using thread_deques::thread_deques;
  [[nodiscard]] work* pop(worker_id by) override;
};

}  // namespace nacre
