// SPDX-License-Identifier: Apache-2.0
// The newest first.
#include "balance/scheduler/lifo.hpp"

namespace nacre {

work* lifo_scheduler::pop(worker_id by) {
  thread_queue& own = queue_of(by);
  if (looks_around(own)) {
    if (work* const item = take_ownerless(by)) return item;
    if (work* const item = own.items.take_oldest()) return item;
  }
  if (work* const item = own.items.take_newest()) return item;
  return steal(by);
}

}  // namespace nacre
