// SPDX-License-Identifier: Apache-2.0
// The interface of a scheduler: which ready work a worker of this rank runs next.
#pragma once

#include <cstddef>

#include <nacre/ids.hpp>
#include <nacre/work.hpp>

namespace nacre {

/// Orders the ready work inside a rank (PREMA figure 2: push and pop). Work that arrives here may run at once, on any
/// worker: order and access privileges have been settled before.
/// Threads: `push` and `pop` are called at the same time by different lanes, each with its own id. Ids below the number
/// of workers are workers; the two above are the application thread and the poll loop, which push but never pop.
class scheduler {
 public:
  virtual ~scheduler() = default;
  /// `by` made `item` ready. The scheduler does not own it.
  virtual void push(worker_id by, work& item) = 0;
  /// The next item for worker `by`, or null when there is none for it now.
  [[nodiscard]] virtual work* pop(worker_id by) = 0;
  /// About how many items wait where `by` put them: a hint for splitting and for waking idle workers.
  [[nodiscard]] virtual std::size_t waiting(worker_id /*by*/) const { return 0; }
};

}  // namespace nacre
