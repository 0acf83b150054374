// SPDX-License-Identifier: Apache-2.0
// The scheduler `fifo`: the oldest first, under any pressure.
#pragma once

#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

/// A worker takes the oldest item of its own queue, then the oldest of others. Unlike `steal` it never changes this
/// order: no item is put off, but a tree of work needs memory for its full width.
class fifo_scheduler final : public thread_deques<thread_queue> {
 public:
  using thread_deques::thread_deques;
  [[nodiscard]] work* pop(worker_id worker) override;
};

}  // namespace nacre
