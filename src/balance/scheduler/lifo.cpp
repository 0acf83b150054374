// SPDX-License-Identifier: Apache-2.0
// The newest first.
#include "balance/scheduler/lifo.hpp"

namespace nacre {

work* lifo_scheduler::pop(worker_id worker) {
  thread_queue& queue = queue_of(worker);
  if (looks_around(queue)) {
    if (work* const item = take_ownerless(worker)) return item;
    if (work* const item = queue.items.take_oldest()) return item;
  }
  if (work* const item = queue.items.take_newest()) return item;
  return steal(worker);
}

}  // namespace nacre
