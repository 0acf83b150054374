// SPDX-License-Identifier: Apache-2.0
// The scheduler `fifo`: the oldest first, whatever the pressure.
#pragma once

#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

/// A worker takes the oldest of its own queue, then the oldest of others. Unlike `steal` it never changes this order:
/// trees of work grow as wide as they are, and memory with them, but nothing is put off.
class fifo_scheduler final : public thread_deques {
 public:
  using thread_deques::thread_deques;
  [[nodiscard]] work* pop(worker_id by) override;
};

}  // namespace nacre
