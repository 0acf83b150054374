// SPDX-License-Identifier: Apache-2.0
// The worker pools of the ranks that share a process.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "exec/worker_pool.hpp"

namespace nacre {

/// Where messages go by pointer several ranks run in one process, and messages of one may wait for a worker of another.
/// Any thread.
class pools_of_process {
 public:
  void add(const worker_pool& each) {
    const std::scoped_lock lock(mutex_);
    pools_.push_back(&each);
  }
  /// Before the pool ends.
  void remove(const worker_pool& each) {
    const std::scoped_lock lock(mutex_);
    std::erase(pools_, &each);
  }
  /// Whether every worker of every rank looks for work. It asks all pools, so it is for those that wait.
  [[nodiscard]] bool all_idle() const {
    const std::scoped_lock lock(mutex_);
    return std::all_of(pools_.begin(), pools_.end(),
                       [](const worker_pool* each) { return each->idle_workers() == each->workers(); });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<const worker_pool*> pools_;
};

}  // namespace nacre
